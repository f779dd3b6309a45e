import { sharesBlock, type TracedElement } from '../../logic/dropout-trace/trace-element.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { pointedAt } from '../../ui/controls/grid-keys.ts';

const span = 16;
const cell = 20;

/** The elements around the chosen one, enlarged; those that the same Philox block decides are outlined. */
export function Neighbourhood(props: {
  readonly element: TracedElement;
  readonly mask: Uint8Array;
  readonly onChoose: (i: number, j: number) => void;
}) {
  const { element, mask, onChoose } = props;
  const text = useChapterText('dropout');
  const { i, j, Sq, Skv } = element;
  const start = (at: number, count: number): number =>
    Math.max(0, Math.min(count - span, Math.floor(at / span) * span));
  const [top, left] = [start(i, Sq), start(j, Skv)];
  const offsets = Array.from({ length: span }, (_, n) => n);
  return (
    <button
      type="button"
      className="neighbourhood"
      tabIndex={-1}
      aria-label={text.neighbourhood}
      onClick={event => {
        const [row, column] = pointedAt(event, [span, span]);
        onChoose(top + row, left + column);
      }}
    >
      <svg viewBox={`0 0 ${span * cell} ${span * cell}`} aria-hidden="true">
        {offsets.flatMap(row =>
          offsets.map(column => {
            const [r, c] = [top + row, left + column];
            return (
              <rect
                key={`${r},${c}`}
                data-kept={mask[r * Skv + c] === 1}
                data-mate={sharesBlock(element, { ...element, i: r, j: c })}
                data-chosen={r === i && c === j}
                x={column * cell + 2}
                y={row * cell + 2}
                width={cell - 4}
                height={cell - 4}
                rx="3"
              />
            );
          }),
        )}
      </svg>
    </button>
  );
}
