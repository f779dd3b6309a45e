import { say } from '../text/say.ts';
import { useText } from '../text/TextProvider.tsx';
import type { OpenedEngine } from './tensor-engine.ts';

/** A note that says which engine computed something, and why that engine is not a GPU. */
export function EngineNote({ opened }: { readonly opened: Omit<OpenedEngine, 'engine'> }) {
  const text = useText().engine;
  const { kind, description, instead } = opened;
  return (
    <p className="note">
      {text.ranOn[kind](description)} {instead && say(instead, text.instead)}
    </p>
  );
}
