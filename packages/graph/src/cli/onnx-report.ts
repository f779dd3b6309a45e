import { type AttentionProblem, cost, dtypeInfo, elementCount } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { fromOnnx, type OnnxGraph, type OnnxGraphOptions } from '../formats/onnx/index.ts';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';

/** The result of partitioning a model. */
export interface OnnxReport {
  readonly operations: number;
  /**
   * The attention calls that run as one kernel: sizes and options as text, and floating-point operations of
   * forward.
   */
  readonly attention: readonly { readonly text: string; readonly flop: number }[];
  /** The number of operations outside attention, by kind. */
  readonly others: ReadonlyMap<string, number>;
  /** The floating-point operations of the matrix products outside attention. */
  readonly productFlop: number;
  readonly weightBytes: number;
  /** The memory for intermediate results when the graph is compiled for the CPU engine. */
  readonly workspaceBytes: number;
}

/** Reads a model and partitions its graph. */
export async function onnxReport(
  bytes: Uint8Array,
  { externalData, ...options }: OnnxGraphOptions & { externalData?: (location: string) => Uint8Array } = {},
): Promise<OnnxReport> {
  const model = await fromOnnx(bytes, { externalData });
  const made = model.graph(options);
  const problems: AttentionProblem[] = [];
  const compiled = made.graph.compile(watching(cpuEngine(), problems));
  const { workspaceBytes } = compiled;
  compiled.release();
  return {
    operations: made.graph.nodes.length,
    attention: problems.map(problem => ({
      text: describeProblem(problem),
      flop: cost(problem).forward.flops,
    })),
    ...outsideOfAttention(made),
    weightBytes: Object.values(made.bindings).reduce(
      (sum, { dtype, size }) => sum + size * dtypeInfo[dtype].bytes,
      0,
    ),
    workspaceBytes,
  };
}

/** Wraps an engine so that it records the attention problems that it is asked to support. */
function watching(engine: TensorEngine, problems: AttentionProblem[]): TensorEngine {
  return new Proxy(engine, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'checkSupport') problems.push(args[0] as AttentionProblem);
        return value.apply(target, args);
      };
    },
  });
}

/**
 * A problem's sizes and options, without numbers such as the scale, which may be known only when the graph
 * runs.
 */
function describeProblem(problem: AttentionProblem): string {
  const { B, Hq, Hk, Sq, Skv, Dqk, Dv, band, q } = problem;
  const options = [
    band && `band ${band.left ?? '∞'} to ${band.right ?? '∞'} ${band.align}`,
    problem.mask && 'mask',
    problem.bias && 'bias',
    problem.alibi && 'alibi',
    problem.softcap !== null && 'softcap',
    problem.scoreMod && 'score mod',
    problem.dropout && 'dropout',
    problem.lengthsKv !== 'full' && 'lengths',
  ].filter(Boolean);
  const sizes = `B ${B}, Hq ${Hq}, Hk ${Hk}, Sq ${Sq}, Skv ${Skv}, Dqk ${Dqk}, Dv ${Dv}, ${q.dtype}`;
  return [sizes, ...options].join(', ');
}

function outsideOfAttention({ graph }: OnnxGraph): Pick<OnnxReport, 'others' | 'productFlop'> {
  const inAttention = new Set(
    graph.partitions().flatMap(({ kind, ops }) => (kind.includes('sdpa') ? ops : [])),
  );
  const others = new Map<string, number>();
  let productFlop = 0;
  for (const { id, kind, inputs, outputs, attributes } of graph.nodes) {
    if (inAttention.has(id)) continue;
    others.set(kind, (others.get(kind) ?? 0) + 1);
    if (kind !== 'MatMul') continue;
    const shape = ({ id: tensor }: LogicalTensor): readonly number[] => graph.topology.shapeOf(tensor) ?? [];
    const depth = shape(inputs[0]).at(attributes.transpose_a === true ? -2 : -1) ?? 0;
    productFlop += 2 * elementCount(shape(outputs[0])) * depth;
  }
  return { others, productFlop };
}

const millions = (n: number): string => `${(n / 1e6).toPrecision(3)} M`;

/** Formats a report as lines of text. */
export function formatReport(report: OnnxReport): string {
  const { attention, others, operations, productFlop, weightBytes, workspaceBytes } = report;
  const kinds = [...others].sort(([, a], [, b]) => b - a).map(([kind, count]) => `${kind} ${count}`);
  return [
    `Operations after shape arithmetic: ${operations}.`,
    `Attention partitions: ${attention.length}.`,
    ...attention.map(({ text, flop }) => `  ${text}: ${millions(flop)}FLOP`),
    `Operations outside attention: ${kinds.join(', ') || 'none'}.`,
    `Their matrix products: ${millions(productFlop)}FLOP.`,
    `Weights and constants: ${millions(weightBytes)}B. Intermediate results: ${millions(workspaceBytes)}B.`,
  ].join('\n');
}
