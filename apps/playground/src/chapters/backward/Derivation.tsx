import { useUrlNumber } from '../../state/url-state.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';
import { derivation, stacked } from './derivation.ts';

/** The derivation, one step at a time; earlier steps stay on the page. */
export function Derivation() {
  const text = useChapterText('backward');
  const [at, setAt] = useUrlNumber('step', 1, { min: 1, max: derivation.length });
  return (
    <div className="stack">
      <ol className="derivation">
        {derivation.slice(0, at).map(({ id, tex, indices }) => (
          <li key={id}>
            <h3>{text.steps[id].title}</h3>
            <Formula block tex={stacked(tex)} />
            <p>
              <Rich text={text.steps[id].why} />
            </p>
            {indices && (
              <Reveal summary={text.inIndices}>
                {indices.map(line => (
                  <Formula key={line} block tex={line} />
                ))}
              </Reveal>
            )}
          </li>
        ))}
      </ol>
      <div className="toolbar">
        <button type="button" className="button" disabled={at === 1} onClick={() => setAt(at - 1)}>
          {text.stepBack}
        </button>
        <button
          type="button"
          className="button primary"
          disabled={at === derivation.length}
          onClick={() => setAt(at + 1)}
        >
          {text.nextStep}
        </button>
        <span className="mono" role="status">
          {at} / {derivation.length}
        </span>
      </div>
    </div>
  );
}
