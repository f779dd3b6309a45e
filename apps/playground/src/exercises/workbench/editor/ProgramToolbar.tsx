import type { ReactNode, RefObject } from 'react';
import type { ProgramOfExercise } from '../../../state/kept-programs.ts';
import { useText } from '../../../text/TextProvider.tsx';

/** Buttons for a whole program: start over, and restore the program that a button replaced. */
export function ProgramToolbar(props: {
  readonly kept: ProgramOfExercise;
  /** The element with the editor, which gets the focus after starting over. */
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
          // The button has nothing left to do, so the focus moves to the editor.
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
