import { standardSlopes, Tensor } from '@tilewise/core';
import type { LogicalTensor } from '@tilewise/graph';
import type { GraphWriter } from './graph-writer.ts';

/** What attention is over: B sequences of S tokens. */
export interface AttentionShape {
  readonly B: number;
  readonly S: number;
  readonly heads: number;
  readonly headSize: number;
}

/**
 * What is added to the scores, what happens to the probabilities, and whether what a backward pass knows
 * attention by is a result.
 */
export interface AttentionOptions {
  /** Broadcast to (B, H, S, S). */
  readonly bias: LogicalTensor;
  drop(probabilities: LogicalTensor): LogicalTensor;
  readonly stats: boolean;
}

/**
 * Causal attention over rows (B·S, H·D) of q, k and v, written out as the operations that a graph recognises
 * as one: softmax(mask(q·kᵀ / √D + bias))·v.
 */
export function causalAttention(
  g: GraphWriter,
  [q, k, v]: readonly LogicalTensor[],
  { B, S, heads, headSize }: AttentionShape,
  { bias, drop, stats }: AttentionOptions,
): { readonly o: LogicalTensor; readonly probabilities: LogicalTensor } {
  const split = (rows: LogicalTensor): LogicalTensor => {
    const parts = g.op('StaticReshape', [rows], { shape: [B, S, heads, headSize], special_zero: false });
    return g.op('StaticTranspose', [parts], { order: [0, 2, 1, 3] });
  };
  const scores = g.op('MatMul', [split(q), split(k)], { transpose_b: true });
  const scaled = g.op('Multiply', [scores, g.number(1 / Math.sqrt(headSize))]);
  const biased = g.op('Add', [scaled, bias]);
  const query = g.op('GenIndex', [biased], { axis: -2 }, 'i32');
  const key = g.op('GenIndex', [biased], { axis: -1 }, 'i32');
  const visible = g.op('GreaterEqual', [query, key], {}, 'bool');
  const masked = g.op('Select', [visible, biased, g.number(-Infinity)]);
  const probabilities = g.softmax(masked, { stats });
  const byHead = g.op('MatMul', [drop(probabilities), split(v)]);
  const rows = g.op('StaticTranspose', [byHead], { order: [0, 2, 1, 3] });
  const o = g.op('StaticReshape', [rows], { shape: [B * S, heads * headSize], special_zero: false });
  return { o, probabilities };
}

/**
 * ALiBi as a bias (1, H, 1, S): slope·j for key j. Under a causal mask this is slope·(j − i), since what is
 * the same for all keys of a row does not change its softmax.
 */
export function alibiBias({ heads, S }: Pick<AttentionShape, 'heads' | 'S'>): Tensor {
  const slopes = standardSlopes(heads);
  const values = Float32Array.from({ length: heads * S }, (_, n) => slopes[Math.floor(n / S)] * (n % S));
  return Tensor.from(values, [1, heads, 1, S]);
}
