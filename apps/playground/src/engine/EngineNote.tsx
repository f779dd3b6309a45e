import { say } from '../text/say.ts';
import { useText } from '../text/TextProvider.tsx';
import type { OpenedEngine } from './tensor-engine.ts';

/** What something was computed on, and why that is no GPU. */
export function EngineNote({ opened }: { readonly opened: Omit<OpenedEngine, 'engine'> }) {
  const text = useText().engine;
  const { kind, description, instead } = opened;
  return (
    <p className="note">
      {text.ranOn[kind](description)} {instead && say(instead, text.instead)}
    </p>
  );
}
