import type { Graph, Partition } from '@tilewise/graph';
import { type CSSProperties, type KeyboardEvent, useMemo, useRef, useState } from 'react';
import type { TensorNames } from '../../../logic/graph/attention-graph.ts';
import {
  drawGraph,
  type GraphLayout,
  isInside,
  operationsAround,
} from '../../../logic/graph/graph-drawing.ts';
import type { Box } from '../../../logic/graph/graph-layout.ts';
import { useChapterText } from '../../../text/useChapterText.ts';
import { GraphEdges } from './GraphEdges.tsx';
import { neighbour } from './neighbour.ts';
import { toneOf } from './tone.ts';
import { useGraphLayout } from './useGraphLayout.ts';
import { usePanZoom } from './usePanZoom.ts';
import { ZoomButtons, zoomSteps } from './ZoomButtons.tsx';

interface FigureProps {
  readonly graph: Graph;
  readonly names: TensorNames;
  readonly partitions: readonly Partition[];
  readonly chosen: number;
  readonly onLook: (operation: number | null) => void;
  readonly onChoose: (operation: number) => void;
  readonly looked: number;
  readonly details: string;
}

/**
 * The graph, with its partitions boxed and coloured. Hovering over or focusing an operation shows its
 * details; choosing it keeps them. If the graph is large, only the operations around the chosen one are
 * drawn.
 */
export function GraphFigure(props: FigureProps) {
  const { graph, names, partitions, chosen } = props;
  const text = useChapterText('graph');
  const shown = useShownOperations(graph, chosen);
  const drawing = useMemo(
    () => drawGraph(graph, partitions, names, shown),
    [graph, partitions, names, shown],
  );
  const layout = useGraphLayout(drawing);
  if (!layout)
    return (
      <p className="loading" role="status">
        {text.layingOut}
      </p>
    );
  return <LaidOutGraph {...props} layout={layout} />;
}

/**
 * The operations that are drawn. They change only when the chosen operation is not among them or is at their
 * border.
 */
function useShownOperations(graph: Graph, chosen: number): ReadonlySet<number> {
  const [drawn, setDrawn] = useState(() => ({ graph, shown: operationsAround(graph, chosen) }));
  const isCurrent = drawn.graph === graph && isInside(graph, drawn.shown, chosen);
  if (isCurrent) return drawn.shown;
  const shown = operationsAround(graph, chosen);
  setDrawn({ graph, shown });
  return shown;
}

function LaidOutGraph(props: FigureProps & { readonly layout: GraphLayout }) {
  const { layout, chosen, looked, onLook, onChoose, details } = props;
  const view = useRef<HTMLDivElement>(null);
  const { transform, fit, zoomBy, reveal } = usePanZoom(view, layout);
  const sheet = useRef<HTMLDivElement>(null);

  const onKeyDown = (event: KeyboardEvent, from: Box): void => {
    const zooms: Readonly<Record<string, () => void>> = {
      '+': () => zoomBy(zoomSteps.in),
      '-': () => zoomBy(zoomSteps.out),
      '0': fit,
    };
    const zoomKey = zooms[event.key];
    const next = neighbour(layout.operations, from, event.key);
    if (!zoomKey && !next) return;
    event.preventDefault();
    zoomKey?.();
    if (next) {
      sheet.current
        ?.querySelector<HTMLElement>(`[data-operation="${next.node.id}"]`)
        ?.focus({ preventScroll: true });
      reveal(next.x, next.y);
      onChoose(next.node.id);
    }
  };
  const current = layout.operations.some(({ node }) => node.id === chosen)
    ? chosen
    : layout.operations[0]?.node.id;

  return (
    <div className="graph-figure">
      <div className="graph-view" ref={view}>
        <div
          className="graph-sheet"
          ref={sheet}
          style={{
            width: layout.width,
            height: layout.height,
            transform: `translate(${transform.x}px, ${transform.y}px) scale(${transform.k})`,
          }}
        >
          {layout.partitions.map(box => (
            <div
              key={box.partition.id}
              className="graph-partition"
              data-tone={toneOf(box.partition)}
              style={placed(box)}
            />
          ))}
          <GraphEdges layout={layout} looked={looked} />
          {layout.partitions.map(({ partition, x, y, width, height }) => (
            <code
              key={partition.id}
              className="graph-partition-kind"
              data-tone={toneOf(partition)}
              style={{ left: x - width / 2, bottom: layout.height - y + height / 2 }}
            >
              {partition.kind}
            </code>
          ))}
          {layout.ports.map(box => (
            <span
              key={`${box.leaves}${box.tensor.id}`}
              className="graph-port"
              data-leaves={box.leaves}
              style={placed(box)}
            >
              {box.label}
            </span>
          ))}
          {layout.operations.map(box => (
            <button
              type="button"
              key={box.node.id}
              className="graph-operation"
              data-operation={box.node.id}
              data-tone={toneOf(box.partition)}
              aria-pressed={box.node.id === chosen}
              aria-describedby={details}
              tabIndex={box.node.id === current ? 0 : -1}
              style={placed(box)}
              onClick={() => onChoose(box.node.id)}
              onFocus={() => onLook(box.node.id)}
              onBlur={() => onLook(null)}
              onPointerEnter={() => onLook(box.node.id)}
              onPointerLeave={() => onLook(null)}
              onKeyDown={event => onKeyDown(event, box)}
            >
              {box.node.kind}
            </button>
          ))}
        </div>
      </div>
      <ZoomButtons zoomBy={zoomBy} fit={fit} />
    </div>
  );
}

const placed = ({ x, y, width, height }: Box): CSSProperties => ({
  left: x - width / 2,
  top: y - height / 2,
  width,
  height,
});
