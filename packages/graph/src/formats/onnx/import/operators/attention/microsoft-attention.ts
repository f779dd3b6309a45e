import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { once } from '../../once.ts';
import { withBias } from '../products/bias.ts';
import { attend, withHeads, withoutHeads } from './attention.ts';
import { noScores, refuseExtras } from './group-query-attention.ts';
import { keyMask } from './key-mask.ts';

/** The operands of attention as heads (B, H, S, D), with cached keys and values before the new ones. */
interface Operands {
  readonly q: LogicalTensor;
  readonly k: LogicalTensor;
  readonly v: LogicalTensor;
  /** The number of cached keys. */
  readonly past: number;
  readonly isCausal: boolean;
}

/** Attention with a mask and a bias, which are inputs of the node; returns (B, Sq, H·Dv). */
function masked(
  call: NodeCall,
  { q, k, v, past, isCausal }: Operands,
  inputs: { readonly mask: number; readonly bias: number },
): LogicalTensor {
  const [B = 1, , Sq = 1, Dqk = 1] = shapeOf(q);
  const Skv = shapeOf(k)[2] ?? 1;
  const hidden = keyMask(call, inputs, { B, Sq, Skv });
  // Query i belongs to key past + i, whatever the lengths are; 'bottom-right' would align with the lengths.
  const [align, right] =
    hidden.seqLensKv || past === 0 ? (['top-left', past] as const) : (['bottom-right', 0] as const);
  const o = attend(call, {
    ...{ q, k, v, ...hidden },
    scale: call.float('scale', 0) || 1 / Math.sqrt(Dqk),
    ...(isCausal && { align, right }),
  });
  return withoutHeads(call, o);
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
  const { draft } = call;
  /** The heads of an input, after the bias of its projection, which starts at `from`. */
  const headsOf = (n: number, from: number): LogicalTensor => {
    const { shape, tensor } = call.input(n);
    const bias = call.optional(3);
    const size = shape.at(-1) ?? 0;
    const x =
      bias && shape.length === 3
        ? draft.op('Add', [tensor(), draft.slice(bias.tensor(), { axis: 0, start: from, size })])
        : tensor();
    return withHeads(call, x, heads);
  };
  const cached = (n: number, from: number, cache: number): (() => LogicalTensor) =>
    once(() => {
      const old = call.optional(cache);
      return draft.concat([...(old ? [old.tensor()] : []), headsOf(n, from)], 2);
    });
  const [keys, values] = [cached(1, width, 6), cached(2, 2 * width, 7)];
  const attended = result({ type: q.type, shape: [B, Sq, valueWidth] }, () =>
    masked(call, { q: headsOf(0, 0), k: keys(), v: values(), past, isCausal }, { mask: 4, bias: 5 }),
  );
  return [
    attended,
    result({ type: k.type, shape: [B, heads, Skv, Dqk] }, keys),
    result({ type: v.type, shape: [B, heads, Skv, valueWidth / heads] }, values),
    noScores(call, q, [B, heads, Sq, Skv]),
  ];
};

/** com.microsoft's attention of x with itself: one product gives q, k and v. The cache is (2, B, H, S, D). */
export const selfAttention: OnnxOperator = call => {
  refuseExtras(call, 6, ['past_sequence_length']);
  if (call.flag('do_rotary', false)) call.refuse('rotates q and k, which is not supported');
  const [x, weight, cache] = [call.input(0), call.input(1), call.optional(4)];
  const [B = 1, S = 1] = x.shape;
  const width = weight.shape[1] ?? 0;
  const sizes = call.ints('qkv_hidden_sizes') ?? [width / 3, width / 3, width / 3];
  const heads = call.int('num_heads', 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total !== width || sizes.length !== 3 || sizes.some(size => !Number.isInteger(size / heads)))
    call.fail(`cannot divide ${width} channels into q, k and v of [${sizes}] with ${heads} heads`);
  const past = cache?.shape[3] ?? 0;
  const { draft } = call;
  const projected = once(() => withBias(call, draft.op('MatMul', [x.tensor(), weight.tensor()]), 2));
  const part = (n: number): LogicalTensor => {
    const start = sizes.slice(0, n).reduce((sum, size) => sum + size, 0);
    return withHeads(call, draft.slice(projected(), { axis: 2, start, size: sizes[n] }), heads);
  };
  const cached = (n: 1 | 2): (() => LogicalTensor) =>
    once(() => {
      if (!cache) return part(n);
      const old = draft.slice(cache.tensor(), { axis: 0, start: n - 1, size: 1 });
      return draft.concat([draft.reshape(old, cache.shape.slice(1)), part(n)], 2);
    });
  const [keys, values] = [cached(1), cached(2)];
  const isCausal = call.flag('unidirectional', false);
  const present = [B, heads, past + S, sizes[1] / heads];
  return [
    result({ type: x.type, shape: [B, S, sizes[2]] }, () =>
      masked(call, { q: part(0), k: keys(), v: values(), past, isCausal }, { mask: 3, bias: 5 }),
    ),
    result({ type: x.type, shape: [2, ...present] }, () =>
      draft.concat(
        [keys(), values()].map(own => draft.reshape(own, [1, ...present])),
        0,
      ),
    ),
  ];
};
