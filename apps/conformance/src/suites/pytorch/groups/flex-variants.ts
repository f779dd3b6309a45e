import { Tensor } from '@tilewise/core';
import {
  abs,
  add,
  and,
  cos,
  div,
  eq,
  exp,
  floorDiv,
  ge,
  le,
  load,
  maskMod,
  mod,
  mul,
  type NumericExpr,
  neg,
  or,
  scoreMod,
  sin,
  sub,
} from '@tilewise/core/expr';
import { added, type MakeOptions, sameDocument, score, where } from './flex-options.ts';
import { normalTensor } from './torch.ts';

/** The variants of `TestFlexAttention misc`, by their descriptions in the file. */
export const variants: Readonly<Record<string, MakeOptions>> = {
  'doc_mask_causal(256)': (_, { Skv }) => ({ maskMod: sameDocument(Skv), causal: true }),
  'index bias[b,q]': added(
    ({ B, Sq }) => [B, Sq],
    ({ b, q }) => [b, q],
  ),
  'bias[b,h,q]': added(
    ({ B, Hq, Sq }) => [B, Hq, Sq],
    ({ b, h, q }) => [b, h, q],
  ),
  skip_odd_keys: () => ({ maskMod: maskMod(({ kv }) => eq(mod(kv, 2), 0)) }),
  'rel_bias then inverse_causal composition': score(({ score, q, kv }) =>
    where(le(q, kv), add(score, sub(q, kv))),
  ),
  'bias over b,h,q tokens': (stream, { B, Hq, Sq, Skv }, dtype) => ({
    scoreMod: scoreMod<Tensor>(
      ({ score, b, h, q, kv }) =>
        add(
          score,
          add(add(load('ofBatch', [b]), load('ofHead', [h])), add(load('ofQuery', [q]), load('ofKey', [kv]))),
        ),
      {
        ofBatch: normalTensor(stream, [B], dtype),
        ofHead: normalTensor(stream, [Hq], dtype),
        ofQuery: normalTensor(stream, [Sq], dtype),
        ofKey: normalTensor(stream, [Skv], dtype),
      },
    ),
  }),
  'seq_idx equality': (_, { Skv }) => ({ maskMod: sameDocument(Skv) }),
  'bias[q,kv]': added(
    ({ Sq, Skv }) => [Sq, Skv],
    ({ q, kv }) => [q, kv],
  ),
  'bias[b,q,kv]': added(
    ({ B, Sq, Skv }) => [B, Sq, Skv],
    ({ b, q, kv }) => [b, q, kv],
  ),
  'bias[b,h,q,kv]': added(
    ({ B, Hq, Sq, Skv }) => [B, Hq, Sq, Skv],
    ({ b, h, q, kv }) => [b, h, q, kv],
  ),
  'rel_bias[(q-kv)+S]': added(
    ({ Skv }) => [2 * Skv],
    ({ q, kv }, { Skv }) => [add(sub(q, kv), Skv)],
  ),
  'causal OR both<=num_bidir[b]': (_, { B, Sq }) => ({
    maskMod: maskMod<Tensor>(
      ({ b, q, kv }) => {
        const bidirectional = load('bidirectional', [b], 'i32');
        return or(ge(q, kv), and(le(q, bidirectional), le(kv, bidirectional)));
      },
      {
        bidirectional: Tensor.from(
          Array.from({ length: B }, (_, b) => Math.floor(Sq / (b + 2))),
          [B],
          { dtype: 'i32' },
        ),
      },
    ),
  }),
  'natten_2d window 3': () => ({
    maskMod: maskMod(({ q, kv }) =>
      and(le(abs(sub(floorDiv(q, 16), floorDiv(kv, 16))), 1), le(abs(sub(mod(q, 16), mod(kv, 16))), 1)),
    ),
  }),
  'silu(score)': score(({ score }) => div(score, add(1, exp(neg(score))))),
  'padded dense': (_, { B, Sq, Skv }) => ({
    seqLensQ: Array.from({ length: B }, (_, b) => Sq - 7 * b),
    seqLensKv: Array.from({ length: B }, (_, b) => Skv - 11 * b),
  }),
  'njt offsets [0,1024,1536,2048]': (_, { Skv }) => {
    // Three sequences in one: a half and two quarters.
    const ids = Array.from({ length: Skv }, (_, i) => (2 * i < Skv ? 0 : 4 * i < 3 * Skv ? 1 : 2));
    const at = (i: NumericExpr) => load('sequences', [i], 'i32');
    return {
      maskMod: maskMod<Tensor>(({ q, kv }) => and(eq(at(q), at(kv)), ge(q, kv)), {
        sequences: Tensor.from(ids, [Skv], { dtype: 'i32' }),
      }),
    };
  },
  'sin(cos(s))': score(({ score }) => sin(cos(score))),
  'cos*sin': score(({ score }) => mul(cos(score), sin(score))),
};
