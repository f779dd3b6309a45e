import type { FormatP } from '@tilewise/core';
import { formatPRange } from '@tilewise/core/engine';
import type { GraphNode } from '../../ir/node.ts';
import type { StepRounding } from '../../ir/program/attention-step.ts';
import { numbersOf } from '../../ir/schema/attribute.ts';
import type { Topology, Use } from '../../ir/topology.ts';

/** Probabilities that are rounded to 8 bits. */
export interface RoundingMatch {
  readonly nodes: readonly GraphNode[];
  readonly result: number;
  /** The rounding as an option of an attention call; null if no call rounds like this. */
  readonly rounding: Omit<StepRounding, 'factor'> | null;
  /** The tensor of the factor that is applied before rounding. */
  readonly factor: number | null;
  /** The maximum before the factor is applied, if it is computed. */
  readonly largest: { readonly node: GraphNode; readonly result: number } | null;
}

/** Recognises `[Multiply] Quantize · Dequantize` of a tensor, and a `[Abs] ReduceMax` of the same tensor. */
export function roundingOf(tensor: number, topology: Topology): RoundingMatch | null {
  const uses = topology.uses(tensor);
  const largest = largestOf(uses, topology);
  const onlyUse = (id: number): Use | null => {
    const rest = topology.uses(id).filter(({ node }) => !largest?.nodes.includes(node));
    return rest.length === 1 ? rest[0] : null;
  };
  const first = onlyUse(tensor);
  const multiply = first?.node.kind === 'Multiply' ? first : null;
  const quantize = multiply ? onlyUse(multiply.node.outputs[0].id)?.node : first?.node;
  if (quantize?.kind !== 'Quantize') return null;
  const dequantize = onlyUse(quantize.outputs[0].id)?.node;
  if (dequantize?.kind !== 'Dequantize') return null;
  const rounding = stepRounding(quantize, dequantize);
  return {
    nodes: [...(multiply ? [multiply.node] : []), quantize, dequantize, ...(largest?.nodes ?? [])],
    result: dequantize.outputs[0].id,
    // A call accepts only one factor.
    rounding: multiply && rounding?.scale !== 1 ? null : rounding,
    factor: multiply ? multiply.node.inputs[1 - multiply.input].id : null,
    largest: largest && { node: largest.reduce, result: largest.reduce.outputs[0].id },
  };
}

/** The ReduceMax of a tensor or of its magnitudes. */
function largestOf(
  uses: readonly Use[],
  topology: Topology,
): { readonly nodes: readonly GraphNode[]; readonly reduce: GraphNode } | null {
  for (const { node } of uses) {
    if (node.kind === 'ReduceMax') return { nodes: [node], reduce: node };
    if (node.kind !== 'Abs') continue;
    const [next, ...more] = topology.uses(node.outputs[0].id);
    if (next?.node.kind === 'ReduceMax' && more.length === 0)
      return { nodes: [node, next.node], reduce: next.node };
  }
  return null;
}

/**
 * The rounding, if there is one scale > 0 for all elements and the same zero point in both directions, so
 * that 0 stays 0; else null.
 */
function stepRounding(quantize: GraphNode, dequantize: GraphNode): RoundingMatch['rounding'] {
  const both = [quantize, dequantize].map(({ attributes }) => ({
    scales: numbersOf(attributes, 'scales'),
    zeroPoint: numbersOf(attributes, 'zps')[0] ?? 0,
    isPerTensor: attributes.qtype === 'per_tensor',
  }));
  const [{ zeroPoint }, { zeroPoint: back }] = both;
  const [scale, descale] = both.map(({ scales }) => Math.fround(scales[0]));
  const dtype = quantize.outputs[0].dtype as FormatP['dtype'];
  const [least, largest] = formatPRange[dtype] ?? [0, 0];
  const isOne =
    both.every(({ isPerTensor }) => isPerTensor) &&
    [scale, descale, Math.fround(1 / scale)].every(s => s > 0 && Number.isFinite(s)) &&
    zeroPoint === back &&
    zeroPoint >= least &&
    zeroPoint <= largest;
  return isOne ? { dtype, zeroPoint, scale, descale } : null;
}
