import type { GraphLayout } from '../../../logic/graph/graph-drawing.ts';

/** The arrows between operations; those of the operation that a visitor looks at are highlighted. */
export function GraphEdges({ layout, looked }: { readonly layout: GraphLayout; readonly looked: number }) {
  return (
    <svg width={layout.width} height={layout.height} aria-hidden="true">
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0.5 8 4 0 7.5z" />
        </marker>
      </defs>
      {layout.edges.map(({ key, from, to, points }) => (
        <path
          key={key}
          className="graph-edge"
          data-looked={from === looked || to === looked}
          d={curve(points)}
          markerEnd="url(#arrow)"
        />
      ))}
    </svg>
  );
}

/** A line through points, with rounded corners. */
function curve(points: readonly { readonly x: number; readonly y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const parts = [`M${first.x} ${first.y}`];
  rest.forEach(({ x, y }, n) => {
    const next = rest[n + 1];
    parts.push(next ? `Q${x} ${y} ${(x + next.x) / 2} ${(y + next.y) / 2}` : `L${x} ${y}`);
  });
  return parts.join('');
}
