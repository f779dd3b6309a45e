import { type Gradient, progress, styleOf, type Walk } from '../../schedule/backward-order.ts';
import { Player } from '../../ui/Player.tsx';
import { Segmented } from '../../ui/Segmented.tsx';
import { usePlayback } from '../../ui/usePlayback.ts';

const n = 8;
const cell = 22;
const gradients: readonly Gradient[] = ['dQ', 'dK', 'dV'];
const rows = Array.from({ length: n }, (_, r) => r);

/** dS walked by rows or by columns, and how far that brings each gradient. */
export function WalkFigure({ walk, onWalk }: { readonly walk: Walk; readonly onWalk: (walk: Walk) => void }) {
  const playback = usePlayback('at', n, 650);
  const { at } = playback;
  const isNow = (i: number, j: number): boolean => (walk === 'rows' ? i : j) === at - 1;
  const isDone = (i: number, j: number): boolean => (walk === 'rows' ? i : j) < at;
  return (
    <div className="stack">
      <div className="toolbar">
        <Segmented
          label="Walk"
          value={walk}
          options={[
            { value: 'rows', label: 'Row by row' },
            { value: 'columns', label: 'Column by column' },
          ]}
          onChange={onWalk}
        />
        <Player playback={playback} unit={walk === 'rows' ? 'row' : 'column'} />
      </div>
      <div className="walk">
        <figure>
          <figcaption>dS and P</figcaption>
          <svg
            viewBox={`0 0 ${n * cell} ${n * cell}`}
            role="img"
            aria-label={`${at} of ${n} ${walk} of dS have been made`}
          >
            {rows.flatMap(i =>
              rows.map(j => (
                <rect
                  key={`${i},${j}`}
                  className="ds"
                  data-now={isNow(i, j)}
                  data-done={isDone(i, j)}
                  x={j * cell + 1.5}
                  y={i * cell + 1.5}
                  width={cell - 3}
                  height={cell - 3}
                  rx="3"
                />
              )),
            )}
          </svg>
        </figure>
        {gradients.map(gradient => {
          const style = styleOf(gradient, walk);
          return (
            <figure key={gradient}>
              <figcaption>
                <strong>{gradient}</strong> <span data-style={style}>{style}</span>
              </figcaption>
              <svg viewBox={`0 0 ${3 * cell} ${n * cell}`} role="img" aria-label={`${gradient}: ${style}`}>
                {rows.map(r => (
                  <g key={r}>
                    <rect
                      className="gradient-row"
                      x="1.5"
                      y={r * cell + 1.5}
                      width={3 * cell - 3}
                      height={cell - 3}
                      rx="3"
                    />
                    <rect
                      className="gradient-fill"
                      data-whole={progress(gradient, walk, at, r, n) === 1}
                      x="1.5"
                      y={r * cell + 1.5}
                      width={(3 * cell - 3) * progress(gradient, walk, at, r, n)}
                      height={cell - 3}
                      rx="3"
                    />
                  </g>
                ))}
              </svg>
            </figure>
          );
        })}
      </div>
      <p className="note">
        {walk === 'rows'
          ? 'Each row of dS finishes one row of dQ. dK and dV change everywhere at every step, so all of them must be kept and added to.'
          : 'Each column finishes one row of dK and one of dV; only dQ is left unfinished until the end. Two out of three are inner products: the better balance.'}
      </p>
    </div>
  );
}
