import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { Graph } from '@tilewise/graph';
import {
  type AttentionGraph,
  type AttentionGraphOptions,
  attentionGraph,
  type TensorNames,
  tensorName,
} from './attention-graph.ts';
import { graphInputs } from './graph-inputs.ts';
import { difference, type GraphRun, inner, type PartitionRun, productFlops, runGraph } from './run-graph.ts';

/** The source of a graph: options to build it from, or a file in oneDNN's format. */
export type GraphSource =
  | { readonly kind: 'built'; readonly options: AttentionGraphOptions }
  | { readonly kind: 'file'; readonly name: string; readonly text: string };

/** The findings of a run of a graph. */
export interface RunReport {
  readonly partitions: readonly PartitionRun[];
  readonly ms: number;
  /** The run of the graph as single operations; null if that would take too long. */
  readonly single: { readonly ms: number; readonly difference: number } | null;
  /** Tensors inside attention kernels, which are never stored. */
  readonly saved: { readonly count: number; readonly bytes: number };
  readonly outputs: readonly OutputSummary[];
}

/** A summary of a result that is short enough to read. */
export interface OutputSummary {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly least: number;
  readonly most: number;
  readonly first: readonly number[];
}

/** Above this number of FLOP in products, single operations are not run beside the partitions. */
const maxProductFlop = 1e9;

/**
 * The finalized graph of a source, and names for its tensors. Throws the errors of reading and finalizing.
 */
export function openGraph(source: GraphSource): Pick<AttentionGraph, 'graph' | 'names'> {
  if (source.kind === 'built') return attentionGraph(source.options);
  return { graph: Graph.fromJSON(source.text).finalize(), names: new Map() };
}

/** Runs a graph by its partitions, and by single operations, on plausible inputs. */
export async function runReport<T extends TensorDesc>(
  source: GraphSource,
  engine: TensorEngine<T>,
): Promise<RunReport> {
  const { graph, inputs, names } =
    source.kind === 'built' ? await readied(attentionGraph(source.options), engine) : made(openGraph(source));
  const partitions = graph.partitions();
  const fused = await runGraph(graph, partitions, engine, inputs);
  const single =
    productFlops(graph) > maxProductFlop
      ? null
      : await runGraph(graph, graph.partitions({ policy: 'debug' }), engine, inputs);
  const attention = partitions.filter((_, n) => fused.partitions[n]?.kernel === 'attention');
  const within = attention.map(partition => inner(graph, partition));
  return {
    partitions: fused.partitions,
    ms: fused.ms,
    single: single && { ms: single.ms, difference: difference(single, fused) },
    saved: {
      count: within.reduce((sum, { count }) => sum + count, 0),
      bytes: within.reduce((sum, { bytes }) => sum + bytes, 0),
    },
    outputs: fused.outputs.map(output => summary(output, names)),
  };
}

type Runnable = Omit<AttentionGraph, 'forward'>;

/** A gradient graph reads the results of its forward graph. */
async function readied<T extends TensorDesc>(
  { forward, inputs, ...built }: AttentionGraph,
  engine: TensorEngine<T>,
): Promise<Runnable> {
  if (!forward) return { ...built, inputs };
  const { outputs } = await runGraph(forward, forward.partitions(), engine, inputs);
  const results = Object.fromEntries(outputs.map(({ tensor, values }) => [tensor.id, values]));
  return { ...built, inputs: { ...inputs, ...results } };
}

/** A file has no inputs, so they are made up. */
function made(opened: Omit<Runnable, 'inputs'>): Runnable {
  return { ...opened, inputs: graphInputs(opened.graph) };
}

function summary({ tensor, values }: GraphRun['outputs'][number], names: TensorNames): OutputSummary {
  const numbers = values.toFloat32();
  return {
    name: tensorName(tensor, names),
    dtype: values.dtype,
    shape: values.shape,
    least: numbers.reduce((least, x) => Math.min(least, x), Number.POSITIVE_INFINITY),
    most: numbers.reduce((most, x) => Math.max(most, x), Number.NEGATIVE_INFINITY),
    first: [...numbers.subarray(0, 4)],
  };
}
