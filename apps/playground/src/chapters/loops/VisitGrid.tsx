import type { LoopOrder, Visit } from '../../logic/schedule/loop-order.ts';
import { useText } from '../../text/TextProvider.tsx';
import { TileCells, tileSize } from '../../ui/tiles/TileCells.tsx';

const cell = tileSize;
const strip = 26;
const gap = 8;
const head = 22;

/**
 * Pairs of tiles as a grid: visited pairs are filled, the current pair is lit. Around the grid are the tiles
 * in slow memory: K and V above, Q on the left, O on the right. The tiles that the current visit loads or
 * stores are lit.
 */
export function VisitGrid(props: {
  readonly n: number;
  readonly order: LoopOrder;
  readonly slots: number;
  readonly visits: readonly Visit[];
  readonly at: number;
}) {
  const { n, order, slots, visits, at } = props;
  const { loops: text } = useText();
  const current = visits[at - 1];
  const positions = new Map(visits.map(({ i, j }, k) => [`${i},${j}`, k]));
  const left = strip + gap;
  const above = head + strip + gap;
  const size = [left + n * cell + gap + strip, above + n * cell] as const;
  const lines = Array.from({ length: n }, (_, k) => k);
  const moved = (what: keyof Visit['moved'], here: boolean): boolean =>
    here && (current?.moved[what] ?? 0) > 0;
  const kept = (i: number): boolean => (order === 'inner-product' ? i === current?.i : i < slots);
  return (
    <svg
      className="visit-grid"
      viewBox={`0 0 ${size[0]} ${size[1]}`}
      role="img"
      aria-label={text.grid(at, visits.length, current ?? null)}
    >
      <text className="axis-label" data-symbol="Q" x={strip / 2} y={above - gap - 6}>
        Q
      </text>
      <text className="axis-label" data-symbol="K V" x={left + (n * cell) / 2} y={14}>
        K, V
      </text>
      <text className="axis-label" data-symbol="O" x={size[0] - strip / 2} y={above - gap - 6}>
        O
      </text>
      {lines.map(k => (
        <g key={k}>
          <rect
            className="slow"
            data-symbol="K V"
            data-lit={moved('loadsKv', k === current?.j) ? 'read' : undefined}
            x={left + k * cell + 2}
            y={head}
            width={cell - 4}
            height={strip}
            rx="4"
          />
          <rect
            className="slow"
            data-symbol="Q"
            data-lit={moved('loadsQ', k === current?.i) ? 'read' : undefined}
            x={0}
            y={above + k * cell + 2}
            width={strip}
            height={cell - 4}
            rx="4"
          />
          <rect
            className="slow"
            data-symbol="O"
            data-kept={kept(k)}
            data-lit={
              moved('storesO', k === current?.i)
                ? 'write'
                : moved('loadsO', k === current?.i)
                  ? 'read'
                  : undefined
            }
            x={size[0] - strip}
            y={above + k * cell + 2}
            width={strip}
            height={cell - 4}
            rx="4"
          />
        </g>
      ))}
      <TileCells
        rows={n}
        columns={n}
        x={left}
        y={above}
        state={(i, j) => {
          const position = positions.get(`${i},${j}`) ?? 0;
          return position === at - 1 ? 'now' : position < at ? 'met' : 'open';
        }}
      />
    </svg>
  );
}
