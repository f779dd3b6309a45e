import { Graph as Dagre, layout } from '@dagrejs/dagre';
import type { Graph, GraphNode, LogicalTensor, Partition } from '@tilewise/graph';
import { type TensorNames, tensorName } from './attention-graph.ts';

/** A rectangle by its middle. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Where everything of a graph is drawn, in pixels. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly operations: readonly (Box & { readonly node: GraphNode; readonly partition: Partition })[];
  /** What enters and leaves the graph. */
  readonly ports: readonly (Box & {
    readonly tensor: LogicalTensor;
    readonly leaves: boolean;
    readonly label: string;
  })[];
  /** Around the partitions of more than one operation. */
  readonly partitions: readonly (Box & { readonly partition: Partition })[];
  readonly edges: readonly {
    readonly key: string;
    readonly tensor: number;
    readonly from: number | null;
    readonly to: number | null;
    readonly points: readonly { readonly x: number; readonly y: number }[];
  }[];
}

const letter = 7.6;
const height = 32;

function portLabel(tensor: LogicalTensor, names: TensorNames): string {
  return `${tensorName(tensor, names)} ${tensor.dtype}`;
}

/** Lays a graph out in layers from its inputs downwards, each partition in one piece. */
export function layoutGraph(
  graph: Graph,
  partitions: readonly Partition[],
  names: TensorNames = new Map(),
): GraphLayout {
  const dagre = new Dagre({ compound: true, multigraph: true });
  dagre.setGraph({ rankdir: 'TB', nodesep: 18, ranksep: 30, edgesep: 12, marginx: 12, marginy: 12 });
  dagre.setDefaultEdgeLabel(() => ({}));
  const partitionOf = new Map(
    partitions.flatMap(partition => partition.ops.map(op => [op, partition] as const)),
  );
  const { topology } = graph;

  const boxed = partitions.filter(({ ops }) => ops.length > 1);
  for (const { id } of boxed) dagre.setNode(`p${id}`, {});
  for (const { id, kind } of topology.order) {
    dagre.setNode(`o${id}`, { width: kind.length * letter + 24, height });
    const partition = partitionOf.get(id);
    if (partition && boxed.includes(partition)) dagre.setParent(`o${id}`, `p${partition.id}`);
  }
  const ports = [
    ...topology.inputs.map(tensor => ({ tensor, leaves: false, label: portLabel(tensor, names) })),
    ...topology.outputs.map(tensor => ({ tensor, leaves: true, label: portLabel(tensor, names) })),
  ];
  for (const { tensor, label } of ports) {
    dagre.setNode(`t${tensor.id}`, { width: label.length * 6.6 + 20, height: 24 });
  }
  const ends: { key: string; tensor: number; from: number | null; to: number | null }[] = [];
  const connect = (v: string, w: string, end: Omit<(typeof ends)[number], 'key'>): void => {
    const key = `${v} ${w} ${ends.length}`;
    dagre.setEdge(v, w, {}, key);
    ends.push({ key, ...end });
  };
  for (const node of topology.order) {
    for (const { id: tensor } of node.inputs) {
      const producer = topology.producers.get(tensor);
      const v = producer ? `o${producer.id}` : `t${tensor}`;
      connect(v, `o${node.id}`, { tensor, from: producer?.id ?? null, to: node.id });
    }
  }
  for (const { id: tensor } of topology.outputs) {
    const producer = topology.producers.get(tensor);
    if (producer) connect(`o${producer.id}`, `t${tensor}`, { tensor, from: producer.id, to: null });
  }
  layout(dagre);

  const box = (name: string): Box => {
    const { x = 0, y = 0, width = 0, height: tall = 0 } = dagre.node(name) as Partial<Box>;
    return { x, y, width, height: tall };
  };
  const whole = dagre.graph() as { readonly width?: number; readonly height?: number };
  return {
    width: whole.width ?? 0,
    height: whole.height ?? 0,
    operations: topology.order.flatMap(node => {
      const partition = partitionOf.get(node.id);
      return partition ? [{ ...box(`o${node.id}`), node, partition }] : [];
    }),
    ports: ports.map(port => ({ ...box(`t${port.tensor.id}`), ...port })),
    partitions: boxed.map(partition => ({ ...box(`p${partition.id}`), partition })),
    edges: ends.map(end => {
      const [v = '', w = ''] = end.key.split(' ');
      return { ...end, points: dagre.edge(v, w, end.key)?.points ?? [] };
    }),
  };
}
