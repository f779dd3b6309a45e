import { type FormatP, formatPRange } from '@tilewise/core';
import type { GraphNode } from '../graph/node.ts';
import type { Topology } from '../graph/topology.ts';
import type { StepRounding } from '../lowering/attention-step.ts';
import { numbersOf } from '../schema/attribute.ts';

/** Probabilities that go through 8 bits. */
export interface RoundingMatch {
  readonly nodes: readonly GraphNode[];
  readonly result: number;
  /** As an attention call rounds them; null when none does it so. */
  readonly rounding: StepRounding | null;
}

/** The Quantize and Dequantize that a tensor goes through. */
export function roundingOf(tensor: number, { uses }: Topology): RoundingMatch | null {
  const [quantize, ...others] = uses(tensor);
  if (quantize?.node.kind !== 'Quantize' || others.length > 0) return null;
  const [stored] = quantize.node.outputs;
  const [dequantize, ...more] = uses(stored.id);
  if (dequantize?.node.kind !== 'Dequantize' || more.length > 0) return null;
  return {
    nodes: [quantize.node, dequantize.node],
    result: dequantize.node.outputs[0].id,
    rounding: stepRounding(quantize.node, dequantize.node),
  };
}

/** With one scale > 0 for all, and the same zero point on the way back, which 0 then goes through unchanged. */
function stepRounding(quantize: GraphNode, dequantize: GraphNode): StepRounding | null {
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
