import { type ReactNode, useState } from 'react';
import { useText } from '../../text/TextProvider.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';

/**
 * Hints that the visitor asks for one by one, each saying more than the last; a solution comes after all of
 * them.
 */
export function HintLadder(props: { readonly hints: readonly string[]; readonly children: ReactNode }) {
  const { hints, children } = props;
  const { bench } = useText();
  const [opened, setOpened] = useState(0);
  return (
    <div className="hints">
      <ol aria-live="polite">
        {hints.slice(0, opened).map(hint => (
          <li key={hint}>
            <Rich text={hint} />
          </li>
        ))}
      </ol>
      {opened > hints.length ? (
        children
      ) : (
        <button type="button" className="button" onClick={() => setOpened(opened + 1)}>
          {opened < hints.length ? bench.hint(opened + 1, hints.length) : bench.showSolution}
        </button>
      )}
    </div>
  );
}
