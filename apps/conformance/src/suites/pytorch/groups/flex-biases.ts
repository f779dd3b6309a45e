import { Tensor } from '@tilewise/core';
import { abs, add, constant, div, exp, load, max, min, mul, neg, scoreMod, sub } from '@tilewise/core/expr';
import { added, type MakeOptions } from './flex-options.ts';
import { normalTensor } from './torch.ts';

/** The learnable biases, by their descriptions. */
export const biases: Readonly<Record<string, MakeOptions>> = {
  'rel_1d bias[|q-kv|]': added(
    ({ Skv }) => [Skv],
    ({ q, kv }) => [abs(sub(q, kv))],
  ),
  'abs_2d bias[q,kv]': added(
    ({ Sq, Skv }) => [Sq, Skv],
    ({ q, kv }) => [q, kv],
  ),
  'head bias[h,q,kv]': added(
    ({ Hq, Sq, Skv }) => [Hq, Sq, Skv],
    ({ h, q, kv }) => [h, q, kv],
  ),
  'batch_head bias[b,h,q,kv]': added(
    ({ B, Hq, Sq, Skv }) => [B, Hq, Sq, Skv],
    ({ b, h, q, kv }) => [b, h, q, kv],
  ),
  'multiplicative score*bias[q]': (stream, { Sq }, dtype) => ({
    scoreMod: scoreMod<Tensor>(({ score, q }) => mul(score, load('bias', [q])), {
      bias: normalTensor(stream, [Sq], dtype),
    }),
  }),
  'local_window bias[clamp(q-kv+8,0,16)]': added(
    () => [17],
    ({ q, kv }) => [max(0, min(add(sub(q, kv), 8), 16))],
  ),
  'global bias[kv]': added(
    ({ Skv }) => [Skv],
    ({ kv }) => [kv],
  ),
  'weird bias[b,h,0,q]': added(
    ({ B, Hq, Sq }) => [B, Hq, 1, Sq],
    ({ b, h, q }) => [b, h, constant(0, 'i32'), q],
  ),
  'indirect bias[offset[q]]': (stream, { Sq }, dtype) => ({
    scoreMod: scoreMod<Tensor>(({ score, q }) => add(score, load('bias', [load('places', [q], 'i32')])), {
      bias: normalTensor(stream, [Sq], dtype),
      places: Tensor.from(
        Array.from({ length: Sq }, (_, i) => (7 * i + 3) % Sq),
        [Sq],
        { dtype: 'i32' },
      ),
    }),
  }),
  'flipped bias[kv,q]': added(
    ({ Sq, Skv }) => [Skv, Sq],
    ({ q, kv }) => [kv, q],
  ),
  'gate score*sigmoid(g[h])': (stream, { Hq }, dtype) => ({
    scoreMod: scoreMod<Tensor>(({ score, h }) => div(score, add(1, exp(neg(load('gate', [h]))))), {
      gate: normalTensor(stream, [Hq], dtype),
    }),
  }),
  'distinct bias1[q]+bias2[kv]': (stream, { Sq, Skv }, dtype) => ({
    scoreMod: scoreMod<Tensor>(
      ({ score, q, kv }) => add(score, add(load('ofQuery', [q]), load('ofKey', [kv]))),
      {
        ofQuery: normalTensor(stream, [Sq], dtype),
        ofKey: normalTensor(stream, [Skv], dtype),
      },
    ),
  }),
  'rel_1d only bias grad': added(
    ({ Skv }) => [Skv],
    ({ q, kv }) => [abs(sub(q, kv))],
  ),
};
