import { dtypeInfo, elementCount, type Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { type Graph, isKnown, type LogicalTensor, type Partition, storageDesc } from '@tilewise/graph';
import type { GraphInputs } from './attention-graph.ts';

/** How one partition ran. */
export interface PartitionRun {
  readonly kind: string;
  readonly operations: number;
  /** One call of the engine's attention, or one primitive after the other. */
  readonly kernel: 'attention' | 'operations';
  /** Why operations that were recognised as attention did not run as attention. */
  readonly reasons: readonly string[];
  readonly ms: number;
  /** Bytes for intermediate results. */
  readonly workspaceBytes: number;
}

/** How a graph ran, and its results. */
export interface GraphRun {
  readonly partitions: readonly PartitionRun[];
  readonly ms: number;
  readonly outputs: readonly { readonly tensor: LogicalTensor; readonly values: Tensor }[];
}

const repeats = 3;

/**
 * Runs partitions one after the other, each a few times, and reports the best time of each. A time ends when
 * a result is on the host.
 * @param inputs numbers of the graph's inputs, and results of another graph with the same ids.
 */
export async function runGraph<T extends TensorDesc>(
  graph: Graph,
  partitions: readonly Partition[],
  engine: TensorEngine<T>,
  inputs: GraphInputs,
): Promise<GraphRun> {
  const tensors = new Map<number, T | Tensor | number | bigint>(
    Object.entries(inputs).map(([id, value]) => [Number(id), value]),
  );
  const runs: PartitionRun[] = [];
  const made: T[] = [];
  for (const partition of partitions) {
    if (partition.outputs.length === 0) continue;
    const bound = partition.inputs.map(t => [t.id, tensors.get(t.id) ?? 0] as const);
    const compiled = partition.compile(engine, {
      inputs: Object.fromEntries(
        bound.flatMap(([id, value]) =>
          typeof value === 'object' ? [[id, { shape: value.shape, strides: value.strides }] as const] : [],
        ),
      ),
    });
    let best = Number.POSITIVE_INFINITY;
    let results: Readonly<Record<number, T>> = {};
    for (let n = 0; n <= repeats; n++) {
      for (const tensor of Object.values(results)) engine.release(tensor);
      const start = performance.now();
      results = await compiled.execute(Object.fromEntries(bound));
      await engine.download(smallest(Object.values(results)));
      // The first run compiles.
      if (n > 0) best = Math.min(best, performance.now() - start);
    }
    for (const [id, tensor] of Object.entries(results)) {
      tensors.set(Number(id), tensor);
      made.push(tensor);
    }
    const { kernel, reasons, workspaceBytes } = compiled;
    runs.push({
      kind: partition.kind,
      operations: partition.ops.length,
      kernel,
      reasons,
      ms: best,
      workspaceBytes,
    });
    compiled.release();
  }
  const outputs = await Promise.all(
    graph.outputs.map(async tensor => ({
      tensor,
      values: await engine.download(tensors.get(tensor.id) as T),
    })),
  );
  for (const tensor of made) engine.release(tensor);
  return { partitions: runs, ms: runs.reduce((sum, { ms }) => sum + ms, 0), outputs };
}

function smallest<T extends TensorDesc>(tensors: readonly T[]): T {
  return tensors.reduce((least, t) => (elementCount(t.shape) < elementCount(least.shape) ? t : least));
}

/** Tensors inside a partition: if the partition runs as one kernel, they are never stored. */
export function inner(
  graph: Graph,
  partition: Partition,
): { readonly count: number; readonly bytes: number } {
  const own = new Set(partition.ops);
  const outside = new Set(partition.outputs.map(t => t.id));
  const tensors = graph.nodes
    .filter(node => own.has(node.id))
    .flatMap(node => node.outputs)
    .filter(t => !outside.has(t.id));
  return { count: tensors.length, bytes: tensors.reduce((sum, t) => sum + bytesOf(graph, t), 0) };
}

/** The bytes of a tensor; 0 while its shape is open. */
export function bytesOf(graph: Graph, t: LogicalTensor): number {
  const shape = graph.topology.shapeOf(t.id);
  if (!isKnown(shape)) return 0;
  const desc = storageDesc({ ...t, shape });
  return elementCount(desc.shape) * dtypeInfo[desc.dtype].bytes;
}

/** Multiplications and additions of the matrix products; the whole graph takes little more. */
export function productFlops(graph: Graph): number {
  const { topology } = graph;
  return graph.nodes.reduce((sum, node) => {
    if (node.kind !== 'MatMul') return sum;
    const [a, , c] = [node.inputs[0], node.inputs[1], node.outputs[0]].map(t =>
      t ? topology.shapeOf(t.id) : null,
    );
    if (!a || !c || !isKnown(a) || !isKnown(c)) return sum;
    const depth = a.at(node.attributes.transpose_a ? -2 : -1) ?? 0;
    return sum + 2 * elementCount(c) * depth;
  }, 0);
}

/** The largest difference between two runs of one graph, relative to the largest number of each output. */
export function difference(a: GraphRun, b: GraphRun): number {
  return a.outputs.reduce((worst, { values }, n) => {
    const mine = values.toFloat32();
    const other = b.outputs[n]?.values.toFloat32() ?? new Float32Array();
    const largest = mine.reduce(
      (most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most),
      1e-30,
    );
    const apart = mine.reduce((most, x, at) => {
      const y = other[at] ?? Number.NaN;
      return x === y || Number.isNaN(x) ? most : Math.max(most, Math.abs(x - y));
    }, 0);
    return Math.max(worst, apart / largest);
  }, 0);
}
