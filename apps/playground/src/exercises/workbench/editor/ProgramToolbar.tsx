import type { ReactNode, RefObject } from 'react';
import type { ProgramOfExercise } from '../../../state/kept-programs.ts';
import { useText } from '../../../text/TextProvider.tsx';

/** Buttons for a whole program: begin again, and bring back the one that a button replaced. */
export function ProgramToolbar(props: {
  readonly kept: ProgramOfExercise;
  /** Where the editor is, which gets the focus after a new beginning. */
  readonly editorIn: RefObject<HTMLElement | null>;
  /** Buttons that come first. */
  readonly children?: ReactNode;
}) {
  const { kept, editorIn, children } = props;
  const { bench } = useText();
  return (
    <div className="toolbar">
      {children}
      <button
        type="button"
        className="button"
        disabled={kept.program.trim() === kept.starter.trim()}
        onClick={() => {
          kept.replace(kept.starter);
          // The button has nothing left to do: what was focused goes on in the editor.
          editorIn.current?.querySelector<HTMLElement>('.cm-content, textarea')?.focus();
        }}
      >
        {bench.startOver}
      </button>
      {kept.restore && (
        <button type="button" className="button" onClick={kept.restore}>
          {bench.restore}
        </button>
      )}
    </div>
  );
}
