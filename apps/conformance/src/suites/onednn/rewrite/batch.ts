import {
  type Graph,
  type GraphNode,
  inferShapes,
  type LogicalTensor,
  type OneDnnGraph,
  type OneDnnTensor,
} from '@tilewise/graph';

type Shape = LogicalTensor['shape'];

/**
 * A dimension along which a graph computes each of `extent` entries from the same entry of its inputs alone.
 */
export interface Batch {
  readonly dimension: number;
  readonly extent: number;
  /** The rank of the tensors that have this dimension; tensors of lower rank are the same for all entries. */
  readonly rank: number;
}

const perElement = new Set([
  ...['Add', 'Subtract', 'Multiply', 'Divide', 'Select', 'GreaterEqual'],
  ...['Exp', 'Tanh', 'TypeCast', 'Reorder', 'End'],
]);

/**
 * Whether an operation keeps the entries along a dimension apart, for tensors of the given rank. Kinds that
 * are not listed may mix them.
 */
function keepsApart({ kind, attributes }: GraphNode, dimension: number, rank: number): boolean {
  const isIt = (axis: unknown): boolean => axis === dimension || axis === dimension - rank;
  const { axis, axes, order, keep_dims, group_shape, qtype } = attributes;
  switch (kind) {
    case 'MatMul':
      return dimension < rank - 2;
    case 'SoftMax':
    case 'SoftMaxBackward':
    case 'GenIndex':
      return !isIt(axis);
    case 'ReduceSum':
      return keep_dims === true && Array.isArray(axes) && !axes.some(isIt);
    case 'StaticTranspose':
      return Array.isArray(order) && isIt(order[dimension]);
    case 'DynamicDequantize':
      return Array.isArray(group_shape) && group_shape[dimension] === 1;
    case 'Quantize':
    case 'Dequantize':
      return qtype === 'per_tensor';
    default:
      return perElement.has(kind);
  }
}

/**
 * The batch of a graph, along whichever of its two outermost dimensions has more entries: all results have
 * the dimension, and each input has it, has extent 1 there, or lacks it. Null if there is none.
 */
export function batchOf(graph: Graph): Batch | null {
  const shapes = inferShapes(graph.topology.order, new Map());
  const results = graph.outputs.map(t => shapes.get(t.id));
  const rank = results[0]?.length ?? 0;
  const batches = [0, 1].flatMap(dimension => {
    const extent = results[0]?.[dimension] ?? 1;
    const has = (shape: Shape | undefined): boolean => shape?.length === rank && shape[dimension] === extent;
    const lacks = (shape: Shape): boolean =>
      shape !== null && (shape.length === rank ? shape[dimension] === 1 : shape.length < rank - dimension);
    const isBatch =
      extent > 1 &&
      results.every(has) &&
      [...shapes.values()].every(shape => has(shape) || lacks(shape)) &&
      graph.nodes.every(node => keepsApart(node, dimension, rank));
    return isBatch ? [{ dimension, extent, rank }] : [];
  });
  return batches.sort((a, b) => b.extent - a.extent)[0] ?? null;
}

/** A stored graph, reduced to one entry of a batch. */
export function entryGraph(graph: OneDnnGraph, { dimension, extent, rank }: Batch): OneDnnGraph {
  const entryOf = (t: OneDnnTensor): OneDnnTensor =>
    t.shape.length === rank && t.shape[dimension] === extent
      ? { ...t, shape: t.shape.map((n, d) => (d === dimension ? 1 : n)) }
      : t;
  const ops = graph.graph.map(op => ({
    ...op,
    inputs: op.inputs.map(entryOf),
    outputs: op.outputs.map(entryOf),
  }));
  return { ...graph, graph: ops };
}
