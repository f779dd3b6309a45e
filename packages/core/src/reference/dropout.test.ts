import { type DropoutSchemeName, dropoutMask } from '@tilewise/philox';
import { describe, expect, test } from 'vitest';
import { normal } from '../../testing/normal.ts';
import { Tensor } from '../tensor/tensor.ts';
import { sdpaBackwardFloat64 } from './backward.ts';
import { sdpaFloat64 } from './forward.ts';

const [B, Hq, Sq, Skv, D] = [2, 2, 17, 35, 4];

const q = normal([B, Hq, Sq, D], 1);
const k = normal([B, 1, Skv, D], 2);
const v = normal([B, 1, Skv, D], 3);
const dO = normal([B, Hq, Sq, D], 4);

describe.each<DropoutSchemeName>(['torch-efficient', 'flash-attention-2', 'onednn'])('%s', scheme => {
  const dropout = { p: 0.3, seed: 0x1234567890abcdefn, offset: 7n, scheme };

  test('uses the mask of @tilewise/philox, in forward and in backward', () => {
    const values = dropoutMask({ ...dropout, shape: [B, Hq, Sq, Skv] });
    const mask = Tensor.from(values, [B, Hq, Sq, Skv], { dtype: 'bool' });
    const drawn = sdpaFloat64(q, k, v, { dropout, causal: true, outputs: { dropoutMask: true } });
    const { dropoutMask: reported, ...rest } = drawn;
    expect(rest).toEqual(sdpaFloat64(q, k, v, { dropout: { mask, p: 0.3 }, causal: true }));
    expect(reported?.data).toEqual(values);

    const inputs = { q, k, v, dO, o: drawn.o, lse: drawn.lse };
    const given = sdpaBackwardFloat64(inputs, { dropout: { mask, p: 0.3 }, causal: true });
    expect(sdpaBackwardFloat64(inputs, { dropout, causal: true })).toEqual(given);
  });

  test('keeps 1 − p of the probabilities on average, so that o is right in expectation', () => {
    const runs = 40;
    const plain = sdpaFloat64(q, k, v).o.values;
    const mean = new Float64Array(plain.length);
    let kept = 0;
    for (let seed = 0; seed < runs; seed++) {
      const draw = sdpaFloat64(q, k, v, { dropout: { ...dropout, seed }, outputs: { dropoutMask: true } });
      draw.o.values.forEach((x, n) => {
        mean[n] += x / runs;
      });
      kept += draw.dropoutMask?.toFloat64().reduce((sum, x) => sum + x, 0) ?? NaN;
    }
    // FlashAttention-2 can only keep a multiple of 1/256; the rest of the tolerance is five standard
    // deviations.
    const count = runs * B * Hq * Sq * Skv;
    expect(Math.abs(kept / count - 0.7)).toBeLessThan(1 / 256 + 5 * Math.sqrt((0.3 * 0.7) / count));
    const bias = plain.reduce((sum, x, n) => sum + (mean[n] - x), 0) / plain.length;
    expect(Math.abs(bias)).toBeLessThan(0.02);
  });
});

test('kept probabilities are multiplied by 1/(1 − p), or by the scale that a mask comes with', () => {
  const ones = {
    q: Tensor.zeros([1, 1, 1, 1]),
    k: Tensor.zeros([1, 1, 2, 1]),
    v: Tensor.from([1, 3], [1, 1, 2, 1]),
  };
  const mask = Tensor.from([0, 1], [2], { dtype: 'bool' });
  const oWith = (dropout: { mask: Tensor; p?: number; scale?: number }) =>
    sdpaFloat64(ones.q, ones.k, ones.v, { dropout }).o.values[0];
  expect(oWith({ mask })).toBe(1.5);
  expect(oWith({ mask, p: 0.5 })).toBe(3);
  expect(oWith({ mask, scale: 4 })).toBe(6);
});

test('a dropped value contributes nothing, whatever it is', () => {
  const [query, keys] = [Tensor.from([1], [1, 1, 1, 1]), Tensor.from([1, 2], [1, 1, 2, 1])];
  const values = Tensor.from([NaN, 3], [1, 1, 2, 1]);
  const options = { dropout: { mask: Tensor.from([0, 1], [2], { dtype: 'bool' }) } };
  const { o, lse } = sdpaFloat64(query, keys, values, options);
  const { dq } = sdpaBackwardFloat64({ q: query, k: keys, v: values, o, lse, dO: query }, options);
  expect([o.values[0], dq?.values[0]].every(Number.isFinite)).toBe(true);
});

test('packed sequences draw with the row stride of their number of keys', () => {
  const cuSeqLensQ = [0, 2, 5];
  const cuSeqLensKv = [0, 3, 9];
  const tokens = { q: normal([5, 2, D], 1), k: normal([9, 1, D], 2), v: normal([9, 1, D], 3) };
  const dropout = { p: 0.5, seed: 11, offset: 4 };
  const packed = sdpaFloat64(tokens.q, tokens.k, tokens.v, {
    dropout,
    cuSeqLensQ,
    cuSeqLensKv,
    outputs: { dropoutMask: true },
  });
  const expected = dropoutMask({ ...dropout, shape: [2, 2, 3, 6], rowStrides: [3, 6] });
  const reported = packed.dropoutMask;
  expect(reported?.shape).toEqual([2, 2, 3, 6]);
  for (let b = 0; b < 2; b++) {
    for (let h = 0; h < 2; h++) {
      for (let i = 0; i < cuSeqLensQ[b + 1] - cuSeqLensQ[b]; i++) {
        const row = ((b * 2 + h) * 3 + i) * 6;
        expect(reported?.data.slice(row, row + 6)).toEqual(expected.slice(row, row + 6));
      }
    }
  }
});

test('without dropout the reported mask keeps everything', () => {
  const { dropoutMask: reported } = sdpaFloat64(q, k, v, { outputs: { dropoutMask: true } });
  expect(reported?.toFloat64().every(x => x === 1)).toBe(true);
});
