import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import type { Value } from '../../value.ts';
import { appendedToCache, attend, withHeads, withoutHeads } from './attention.ts';
import { noScores, refuseExtras } from './group-query-attention.ts';

/** Adds the bias (H·D) of the projections before attention to (B, S, H·D). */
function biased(call: NodeCall, value: Value, from: number, width: number): LogicalTensor {
  const bias = call.optional(3);
  const x = value.tensor();
  if (!bias || value.shape.length !== 3) return x;
  return call.draft.op('Add', [x, call.draft.slice(bias.tensor(), { axis: 0, start: from, size: width })]);
}

/** com.microsoft's attention with separate q, k and v, a cache, and the biases of their projections. */
export const multiHeadAttention: OnnxOperator = call => {
  refuseExtras(call, 8, ['past_sequence_length', 'cache_indirection']);
  const [q, k, v] = [call.input(0), call.input(1), call.input(2)];
  if (q.shape.length !== 3) call.refuse('has q, k and v in one tensor, which is not supported');
  const heads = call.int('num_heads', 0) || call.fail("needs 'num_heads'");
  const [B = 1, Sq = 1, width = 1] = q.shape;
  const past = call.optional(6)?.shape[2] ?? 0;
  const fresh = k.shape.at(-2) ?? 0;
  // A single query is the last one, which sees all keys.
  const isCausal = call.flag('unidirectional', false) && Sq > 1;
  if (isCausal && Sq !== fresh)
    call.refuse(`is unidirectional with ${Sq} queries and ${fresh} new keys, which is not supported`);
  const Dqk = width / heads;
  const valueWidth = v.shape.length === 3 ? (v.shape[2] ?? 1) : heads * (v.shape[3] ?? 1);
  const Skv = past + fresh;
  const headsOf = (value: Value, from: number): LogicalTensor =>
    withHeads(call, biased(call, value, from, value.shape.at(-1) ?? 0), heads);
  const keys = (): LogicalTensor => appendedToCache(call, headsOf(k, width), 6);
  const values = (): LogicalTensor => appendedToCache(call, headsOf(v, 2 * width), 7);
  const attended = result({ type: q.type, shape: [B, Sq, valueWidth] }, () => {
    const seqLensKv = keyLengths(call, 4, B);
    // Query i belongs to key past + i, whatever the lengths are; 'bottom-right' would align with the lengths.
    const band = seqLensKv || past === 0 ? (['top-left', past] as const) : (['bottom-right', 0] as const);
    const o = attend(call, {
      q: headsOf(q, 0),
      k: keys(),
      v: values(),
      mask: call.optional(5)?.tensor(),
      seqLensKv,
      scale: call.float('scale', 0) || 1 / Math.sqrt(Dqk),
      ...(isCausal && { align: band[0], right: band[1] }),
    });
    return withoutHeads(call, o);
  });
  return [
    attended,
    result({ type: k.type, shape: [B, heads, Skv, Dqk] }, keys),
    result({ type: v.type, shape: [B, heads, Skv, valueWidth / heads] }, values),
    noScores(call, q, [B, heads, Sq, Skv]),
  ];
};

/** The lengths of the keys, if the mask has one number per batch entry. */
function keyLengths(call: NodeCall, n: number, B: number): LogicalTensor | undefined {
  const mask = call.optional(n);
  if (!mask) return undefined;
  if (mask.shape.length === 1 && mask.shape[0] === B) return mask.tensor();
  return call.refuse(`has a key mask of shape [${mask.shape}]; only lengths [${B}] are supported`);
}
