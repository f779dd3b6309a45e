import type { LoopOrder, Visit } from '../../schedule/loop-order.ts';

/** The n × n pairs of tiles; those that have met are filled, the current one is outlined. */
export function VisitGrid(props: {
  readonly n: number;
  readonly order: LoopOrder;
  readonly slots: number;
  readonly visits: readonly Visit[];
  readonly at: number;
}) {
  const { n, order, slots, visits, at } = props;
  const current = visits[at - 1];
  const positions = new Map(visits.map(({ i, j }, k) => [`${i},${j}`, k]));
  const cell = 34;
  const margin = 30;
  const size = n * cell + margin;
  const lines = Array.from({ length: n }, (_, k) => k);
  return (
    <svg
      className="visit-grid"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={`${at} of ${visits.length} pairs of tiles have met${current ? `; now query tile ${current.i} meets key tile ${current.j}` : ''}`}
    >
      <text x={margin + (n * cell) / 2} y="14" className="axis-label">
        key tiles
      </text>
      <text className="axis-label" transform={`translate(14 ${margin + (n * cell) / 2}) rotate(-90)`}>
        query tiles
      </text>
      {lines.flatMap(i =>
        lines.map(j => {
          const position = positions.get(`${i},${j}`) ?? 0;
          const met = position < at;
          return (
            <rect
              key={`${i},${j}`}
              className="pair"
              data-met={met}
              data-current={position === at - 1}
              data-kept={order === 'inner-product' ? i === current?.i : i < slots}
              x={margin + j * cell + 2}
              y={margin + i * cell + 2}
              width={cell - 4}
              height={cell - 4}
              rx="5"
            />
          );
        }),
      )}
    </svg>
  );
}
