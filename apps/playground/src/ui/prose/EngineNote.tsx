import type { OpenedEngine } from '../../engine/tensor-engine.ts';
import { say } from '../../text/say.ts';
import { useText } from '../../text/TextProvider.tsx';

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
