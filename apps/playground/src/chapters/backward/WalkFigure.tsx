import { type Gradient, styleOf, termsAdded, type Walk } from '../../logic/schedule/backward-order.ts';
import { useUrlChoice } from '../../state/url-state.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Player } from '../../ui/controls/Player.tsx';
import { Segmented } from '../../ui/controls/Segmented.tsx';
import { usePlayback } from '../../ui/controls/usePlayback.ts';

const n = 8;
const cell = 22;
const gradients: readonly Gradient[] = ['dQ', 'dK', 'dV'];
const walks: readonly Walk[] = ['rows', 'columns'];
const rows = Array.from({ length: n }, (_, r) => r);

/** dS walked by rows or by columns, and how much of each gradient is done at each step. */
export function WalkFigure() {
  const text = useChapterText('backward');
  const [walk, setWalk] = useUrlChoice<Walk>('walk', 'rows', walks);
  const playback = usePlayback('walked', n, 650, 3);
  const { at } = playback;
  const line = (i: number, j: number): number => (walk === 'rows' ? i : j);
  return (
    <div className="stack">
      <div className="toolbar">
        <Segmented
          label={text.walk}
          value={walk}
          options={walks.map(value => ({ value, label: text.walks[value] }))}
          onChange={setWalk}
        />
        <Player playback={playback} unit={walk === 'rows' ? 'row' : 'column'} />
      </div>
      <div className="walk">
        <figure data-symbol="dS P">
          <figcaption>
            <strong>dS, P</strong>
          </figcaption>
          <svg viewBox={`0 0 ${n * cell} ${n * cell}`} role="img" aria-label={text.walkFigure(at, n, walk)}>
            {rows.flatMap(i =>
              rows.map(j => (
                <rect
                  key={`${i},${j}`}
                  className="ds"
                  data-now={line(i, j) === at - 1}
                  data-done={line(i, j) < at}
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
            <figure key={gradient} data-symbol={gradient}>
              <figcaption>
                <strong>{gradient}</strong> <span data-style={style}>{text.styles[style]}</span>
              </figcaption>
              <svg
                viewBox={`0 0 ${3 * cell} ${n * cell}`}
                role="img"
                aria-label={`${gradient}: ${text.styles[style]}`}
              >
                {rows.map(r => {
                  const terms = termsAdded(gradient, walk, at, r, n);
                  return (
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
                        data-whole={terms === n}
                        style={{ '--share': terms / n } as React.CSSProperties}
                        x="1.5"
                        y={r * cell + 1.5}
                        width={3 * cell - 3}
                        height={cell - 3}
                        rx="3"
                      />
                      <text className="terms" x={1.5 * cell} y={r * cell + cell / 2 + 4}>
                        {terms === n ? '✓' : terms > 0 ? `${terms}/${n}` : ''}
                      </text>
                    </g>
                  );
                })}
              </svg>
            </figure>
          );
        })}
      </div>
      <p className="note">{text.walkNotes[walk]}</p>
      <p className="note">{text.termsNote}</p>
    </div>
  );
}
