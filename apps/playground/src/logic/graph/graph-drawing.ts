import type { Graph, GraphNode, LogicalTensor, Partition } from '@tilewise/graph';
import { type TensorNames, tensorName } from './attention-graph.ts';
import type { Box, DrawingPlan, Placement } from './graph-layout.ts';

/**
 * The part of a graph that is drawn: its operations, the tensors that enter and leave, and the edges between
 * them.
 */
export interface GraphDrawing {
  readonly plan: DrawingPlan;
  readonly operations: readonly { readonly node: GraphNode; readonly partition: Partition }[];
  readonly ports: readonly {
    readonly tensor: LogicalTensor;
    readonly leaves: boolean;
    readonly label: string;
  }[];
  /** The partitions of more than one operation. */
  readonly partitions: readonly Partition[];
  /** The ends of the edges: operations, or null for a tensor that enters or leaves. */
  readonly edges: readonly { readonly from: number | null; readonly to: number | null }[];
}

/** A drawing with the positions of all its elements. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly operations: readonly (Box & GraphDrawing['operations'][number])[];
  readonly ports: readonly (Box & GraphDrawing['ports'][number])[];
  readonly partitions: readonly (Box & { readonly partition: Partition })[];
  readonly edges: readonly (GraphDrawing['edges'][number] & {
    readonly key: string;
    readonly points: Placement['edges'][number];
  })[];
}

/** The largest number of operations that is drawn: more take too long to lay out and cannot be told apart. */
export const maxDrawn = 120;

/** The operations that produce the inputs or read the outputs of an operation. */
function neighbours({ topology }: Graph, { inputs, outputs }: GraphNode): GraphNode[] {
  return [
    ...inputs.flatMap(({ id }) => topology.producers.get(id) ?? []),
    ...outputs.flatMap(({ id }) => topology.uses(id).map(({ node }) => node)),
  ];
}

/**
 * The operations nearest to one, along the tensors between them, at most `maxDrawn`; all operations if the
 * graph is smaller.
 */
export function operationsAround(graph: Graph, focus: number): ReadonlySet<number> {
  const { nodes, topology } = graph;
  if (nodes.length <= maxDrawn) return new Set(nodes.map(({ id }) => id));
  const start = nodes.find(({ id }) => id === focus) ?? topology.order[0];
  const found = new Set(start ? [start] : []);
  // A set is iterated in insertion order while it grows, which makes the search breadth-first.
  for (const node of found) {
    for (const next of neighbours(graph, node)) if (found.size < maxDrawn) found.add(next);
  }
  return new Set([...found].map(({ id }) => id));
}

/**
 * Whether an operation is shown with all its neighbours. True for an operation that the graph does not have.
 */
export function isInside(graph: Graph, shown: ReadonlySet<number>, id: number): boolean {
  const node = graph.nodes.find(one => one.id === id);
  return node === undefined || [node, ...neighbours(graph, node)].every(one => shown.has(one.id));
}

const letter = 7.6;
const height = 32;
const operationKey = (id: number): string => `operation ${id}`;
const partitionKey = (id: number): string => `partition ${id}`;
const portKey = (leaves: boolean, tensor: number): string => `${leaves ? 'out' : 'in'} ${tensor}`;

/**
 * Draws the operations `shown` of a graph, in their partitions. Tensors from and to other operations enter
 * and leave the drawing.
 */
export function drawGraph(
  graph: Graph,
  partitions: readonly Partition[],
  names: TensorNames,
  shown: ReadonlySet<number>,
): GraphDrawing {
  const partitionOf = new Map(partitions.flatMap(one => one.ops.map(op => [op, one] as const)));
  const { topology } = graph;
  const operations = topology.order
    .filter(({ id }) => shown.has(id))
    .flatMap(node => {
      const partition = partitionOf.get(node.id);
      return partition ? [{ node, partition }] : [];
    });
  const boxed = [...new Set(operations.map(({ partition }) => partition))].filter(
    ({ ops }) => ops.length > 1,
  );
  const ports = new Map<string, GraphDrawing['ports'][number]>();
  const port = (tensor: LogicalTensor, leaves: boolean): string => {
    const key = portKey(leaves, tensor.id);
    ports.set(key, { tensor, leaves, label: `${tensorName(tensor, names)} ${tensor.dtype}` });
    return key;
  };
  const edges: DrawingPlan['edges'][number][] = [];
  const ends: GraphDrawing['edges'][number][] = [];
  const connect = (from: number | null, to: number | null, tensor: LogicalTensor): void => {
    edges.push({
      from: from === null ? port(tensor, false) : operationKey(from),
      to: to === null ? port(tensor, true) : operationKey(to),
    });
    ends.push({ from, to });
  };
  const leaving = new Set(topology.outputs.map(({ id }) => id));
  for (const { id, inputs } of topology.order) {
    for (const tensor of inputs) {
      const producer = topology.producers.get(tensor.id);
      const isInside = producer !== undefined && shown.has(producer.id);
      if (shown.has(id)) connect(isInside ? producer.id : null, id, tensor);
      else if (isInside) leaving.add(tensor.id);
    }
  }
  for (const { node } of operations) {
    for (const tensor of node.outputs) if (leaving.has(tensor.id)) connect(node.id, null, tensor);
  }
  const plan: DrawingPlan = {
    nodes: [
      ...operations.map(({ node: { id, kind }, partition }) => ({
        ...{ key: operationKey(id), width: kind.length * letter + 24, height },
        group: boxed.includes(partition) ? partitionKey(partition.id) : null,
      })),
      ...[...ports].map(([key, { label }]) => ({
        key,
        width: label.length * 6.6 + 20,
        height: 24,
        group: null,
      })),
    ],
    groups: boxed.map(({ id }) => partitionKey(id)),
    edges,
  };
  return { plan, operations, ports: [...ports.values()], partitions: boxed, edges: ends };
}

/** A drawing with the positions that its plan was given. */
export function laidOut(
  drawing: GraphDrawing,
  { width, height: tall, boxes, edges }: Placement,
): GraphLayout {
  const boxOf = (key: string): Box => boxes[key] ?? { x: 0, y: 0, width: 0, height: 0 };
  return {
    width,
    height: tall,
    operations: drawing.operations.map(one => ({ ...boxOf(operationKey(one.node.id)), ...one })),
    ports: drawing.ports.map(one => ({ ...boxOf(portKey(one.leaves, one.tensor.id)), ...one })),
    partitions: drawing.partitions.map(partition => ({ ...boxOf(partitionKey(partition.id)), partition })),
    edges: drawing.edges.map((ends, n) => ({ ...ends, key: String(n), points: edges[n] ?? [] })),
  };
}
