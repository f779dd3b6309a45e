import { useUrlNumber } from '../../app/url-state.ts';
import { Formula } from '../../ui/Formula.tsx';
import { derivation } from './derivation.ts';

/** The derivation, one step at a time; what has been read stays. */
export function Derivation() {
  const [at, setAt] = useUrlNumber('step', 1, { min: 1, max: derivation.length });
  return (
    <div className="stack">
      <ol className="derivation">
        {derivation.slice(0, at).map(({ title, tex, why }) => (
          <li key={title}>
            <h3>{title}</h3>
            <Formula block tex={tex} />
            <p>{why}</p>
          </li>
        ))}
      </ol>
      <div className="toolbar">
        <button type="button" className="button" disabled={at === 1} onClick={() => setAt(at - 1)}>
          One step back
        </button>
        <button
          type="button"
          className="button primary"
          disabled={at === derivation.length}
          onClick={() => setAt(at + 1)}
        >
          Next step
        </button>
        <span className="mono">
          {at} / {derivation.length}
        </span>
      </div>
    </div>
  );
}
