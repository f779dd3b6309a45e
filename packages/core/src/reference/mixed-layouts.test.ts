import { describe, expect, test } from 'vitest';
import { normal } from '../../testing/normal.ts';
import * as cpu from '../cpu/index.ts';
import { Tensor } from '../tensor/tensor.ts';
import * as reference from './sdpa.ts';

// Tensors that each have their own layout give the same results as dense tensors, on both host engines.

const [B, Hq, Hk, D] = [3, 4, 2, 4];
const lengthsQ = [3, 0, 2];
const lengthsKv = [2, 4, 5];
const [Sq, Skv] = [4, 5];

const dense = {
  ...{ q: normal([B, Hq, Sq, D], 1), k: normal([B, Hk, Skv, D], 2), v: normal([B, Hk, Skv, D], 3) },
  dO: normal([B, Hq, Sq, D], 4),
};

/**
 * A dense tensor's sequences as rows of (T, H, D) storage, with sequence b from element offsets[b] on and NaN
 * elsewhere.
 */
function placed(
  t: Tensor,
  lengths: readonly number[],
  offsets: readonly number[],
  [T, ss]: [number, number],
): Tensor {
  const [, H] = t.shape;
  const data = new Float32Array((T - 1) * ss + H * D).fill(NaN);
  lengths.forEach((length, b) => {
    for (let h = 0; h < H; h++)
      for (let s = 0; s < length; s++)
        for (let d = 0; d < D; d++) data[offsets[b] + s * ss + h * D + d] = t.get(b, h, s, d);
  });
  return Tensor.wrap(data, { dtype: 'f32', shape: [T, H, D], strides: [ss, D, 1] });
}

/** Reads the values back as (b, h, s, d), at the positions that exist. */
function values(
  t: Tensor,
  lengths: readonly number[],
  at: (b: number, h: number, s: number, d: number) => number[],
): number[] {
  const [, H] = t.shape;
  return lengths.flatMap((length, b) =>
    Array.from({ length: H * length * D }, (_, n) => {
      const [h, s, d] = [Math.floor(n / (length * D)), Math.floor(n / D) % length, n % D];
      return t.get(...at(b, h, s, d));
    }),
  );
}

const asDense = (b: number, h: number, s: number, d: number): number[] => [b, h, s, d];
const fromTokens =
  (first: readonly number[]) =>
  (b: number, h: number, s: number, d: number): number[] => [first[b] + s, h, d];

const cumulativeQ = [0, 3, 3, 5];
const cumulativeKv = [0, 2, 6, 11];
const options = { causal: 'bottom-right', sink: [0.5, 0, -1, 0] } as const;

describe.each([
  ['the reference', reference],
  ['the CPU', cpu],
])('on %s', (_, { sdpa, sdpaBackward }) => {
  const all = { ...options, seqLensQ: lengthsQ, seqLensKv: lengthsKv };
  const expected = sdpa(dense.q, dense.k, dense.v, all);
  const gradients = sdpaBackward({ ...dense, ...expected }, all);

  test('ragged q, dense k, packed v, ragged o', () => {
    // An odd gap before the first sequence of q, and one of three tokens before the last of o.
    const offsetsQ = [5, 60, 70, 110];
    const offsetsO = [0, 48, 96, 128];
    const q = placed(dense.q, lengthsQ, offsetsQ, [7, 20]);
    const v = placed(dense.v, lengthsKv, [0, 16, 48], [12, 8]);
    const lists = {
      raggedOffsets: { q: offsetsQ, o: offsetsO },
      seqLensQ: lengthsQ,
      cuSeqLensKv: cumulativeKv,
    };
    // o has as many tokens as q, which is enough here: 7 · 16 = 112 elements.
    expect(() => sdpa(q, dense.k, v, { ...options, ...lists })).toThrow('raggedOffsets.o');
    const shorter = { ...lists, raggedOffsets: { ...lists.raggedOffsets, o: [0, 48, 80, 112] } };
    const { o, lse } = sdpa(q, dense.k, v, { ...options, ...shorter });
    expect(o.shape).toEqual([7, Hq, D]);
    expect(values(o, lengthsQ, fromTokens([0, 3, 5]))).toEqual(values(expected.o, lengthsQ, asDense));
    expect(lse.shape).toEqual([B, Hq, Sq - 1]);
  });

  test('each operand of backward on its own', () => {
    // q, k and v are interleaved, token by token, in one tensor, with gaps between sequences.
    const step = (Hq + 2 * Hk) * D;
    const tokens = 14;
    const whole = new Float32Array(tokens * step).fill(NaN);
    const first = [1, 5, 9];
    const interleaved = (t: Tensor, lengths: readonly number[], offset: number): Tensor => {
      const [, H] = t.shape;
      const view = Tensor.wrap(whole, { dtype: 'f32', shape: [tokens, H, D], strides: [step, D, 1], offset });
      lengths.forEach((length, b) => {
        for (let n = 0; n < H * length * D; n++) {
          const [h, s, d] = [Math.floor(n / (length * D)), Math.floor(n / D) % length, n % D];
          view.set(t.get(b, h, s, d), first[b] + s, h, d);
        }
      });
      return view;
    };
    const q = interleaved(dense.q, lengthsQ, 0);
    const k = interleaved(dense.k, lengthsKv, Hq * D);
    const v = interleaved(dense.v, lengthsKv, (Hq + Hk) * D);
    const offsets = [...first, tokens].map(token => token * step);
    const lists = {
      raggedOffsets: { q: offsets, k: offsets, v: offsets, dO: [0, 50, 64, 96], dk: [0, 16, 48, 96] },
      seqLensQ: lengthsQ,
      seqLensKv: lengthsKv,
      cuSeqLensQ: cumulativeQ,
    };
    const dO = placed(dense.dO, lengthsQ, lists.raggedOffsets.dO, [7, 16]);
    const { o, lse } = sdpa(q, k, v, { ...options, ...lists });
    expect(o.shape).toEqual([tokens, Hq, D]);
    const { dq, dk, dv } = sdpaBackward({ q, k, v, o, lse, dO }, { ...options, ...lists });
    expect([dq.shape, dk.shape, dv.shape]).toEqual([
      [tokens, Hq, D],
      [tokens, Hk, D],
      [B, Hk, Skv, D],
    ]);
    expect(values(dq, lengthsQ, fromTokens(cumulativeQ))).toEqual(values(gradients.dq, lengthsQ, asDense));
    expect(values(dk, lengthsKv, fromTokens([0, 2, 6]))).toEqual(values(gradients.dk, lengthsKv, asDense));
    expect(values(dv, lengthsKv, asDense)).toEqual(values(gradients.dv, lengthsKv, asDense));
  });

  test('lengths of dense tensors may be given as cumulative ones', () => {
    const { o } = sdpa(dense.q, dense.k, dense.v, {
      ...options,
      cuSeqLensQ: cumulativeQ,
      cuSeqLensKv: cumulativeKv,
    });
    expect(values(o, lengthsQ, asDense)).toEqual(values(expected.o, lengthsQ, asDense));
  });
});
