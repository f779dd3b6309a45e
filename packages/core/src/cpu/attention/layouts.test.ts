import { describe, expect, test } from 'vitest';
import { normal } from '../../../testing/normal.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { sdpa, sdpaBackward } from '../sdpa.ts';

const numbers = (t: Tensor | undefined) => [...(t?.toFloat32() ?? [NaN])];

describe('pages', () => {
  const [B, H, D, size] = [2, 2, 5, 8];
  const seqLensKv = [19, 9];
  const table = Tensor.from([4, 0, 2, 1, 3, 3], [B, 3], { dtype: 'i32' });
  const q = normal([B, H, 7, D], 1);
  const containerK = normal([5, H, size, D], 2);
  const containerV = normal([5, H, size, D], 3);

  function dense(container: Tensor): Tensor {
    const t = Tensor.zeros([B, H, 24, D]);
    for (let b = 0; b < B; b++) {
      for (let h = 0; h < H; h++) {
        for (let s = 0; s < seqLensKv[b]; s++) {
          const page = table.get(b, Math.floor(s / size));
          for (let d = 0; d < D; d++) t.set(container.get(page, h, s % size, d), b, h, s, d);
        }
      }
    }
    return t;
  }

  test('give the same results as contiguous keys', () => {
    const { o, lse } = sdpa(q, containerK, containerV, { pageTableK: table, pageTableV: table, seqLensKv });
    const expected = sdpa(q, dense(containerK), dense(containerV), { seqLensKv });
    expect(numbers(o)).toEqual(numbers(expected.o));
    expect(numbers(lse)).toEqual(numbers(expected.lse));
  });

  test('may be listed in a packed table', () => {
    const pageTable = Tensor.from([4, 0, 2, 1, 3], [5], { dtype: 'i32' });
    const lists = { pageTableK: pageTable, pageTableV: pageTable, cuPagesK: [0, 3, 5], cuPagesV: [0, 3, 5] };
    const { o } = sdpa(q, containerK, containerV, { ...lists, seqLensKv });
    expect(numbers(o)).toEqual(numbers(sdpa(q, dense(containerK), dense(containerV), { seqLensKv }).o));
  });

  test('give the gradient of q', () => {
    const given = { q, dO: normal([B, H, 7, D], 4) };
    const options = { seqLensKv, gradients: ['dq'] } as const;
    const [k, v] = [dense(containerK), dense(containerV)];
    const { o, lse } = sdpa(q, k, v, { seqLensKv });
    const { dq } = sdpaBackward(
      { ...given, o, lse, k: containerK, v: containerV },
      { ...options, pageTableK: table, pageTableV: table },
    );
    expect(numbers(dq)).toEqual(numbers(sdpaBackward({ ...given, o, lse, k, v }, options).dq));
  });

  test('may be used for v alone', () => {
    const options = { pageTableV: table, seqLensKv };
    const { o } = sdpa(q, dense(containerK), containerV, options);
    expect(numbers(o)).toEqual(numbers(sdpa(q, dense(containerK), dense(containerV), { seqLensKv }).o));
  });
});

test('packed results are 0 and −∞ beyond the last sequence', () => {
  const [q, k, v] = [1, 2, 3].map(seed => normal([12, 2, 4], seed));
  const options = { cuSeqLensQ: [0, 3, 9], cuSeqLensKv: [0, 6, 10] };
  const { o, lse } = sdpa(q, k, v, options);
  expect(o.shape).toEqual([12, 2, 4]);
  expect(numbers(o.slice(0, 9, 12))).toEqual(new Array(24).fill(0));
  expect(numbers(lse.slice(1, 9, 12))).toEqual(new Array(6).fill(-Infinity));
  const { dq, dk } = sdpaBackward({ q, k, v, o, lse, dO: v }, options);
  expect(numbers(dq.slice(0, 9, 12))).toEqual(new Array(24).fill(0));
  expect(numbers(dk.slice(0, 10, 12))).toEqual(new Array(16).fill(0));
});

test('no keys at all give fully masked rows', () => {
  const q = normal([1, 1, 3, 4], 1);
  const none = Tensor.zeros([1, 1, 0, 4]);
  const { o, lse } = sdpa(q, none, none);
  expect(numbers(o)).toEqual(new Array(12).fill(0));
  expect(numbers(lse)).toEqual(new Array(3).fill(-Infinity));
  expect(numbers(sdpaBackward({ q, k: none, v: none, o, lse, dO: q }).dq)).toEqual(new Array(12).fill(0));
});

test('lse and dLse may have any strides', () => {
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 2, 5, 4], seed));
  const { o, lse } = sdpa(q, k, v);
  const dLse = normal([1, 2, 5], 6);
  const scattered = (t: Tensor) => Tensor.from(t.toFloat32(), t.shape, { strides: [40, 3, 7] });
  const expected = sdpaBackward({ q, k, v, o, lse, dO, dLse });
  const got = sdpaBackward({ q, k, v, o, lse: scattered(lse), dO, dLse: scattered(dLse) });
  expect(numbers(got.dq)).toEqual(numbers(expected.dq));
  expect(numbers(got.dk)).toEqual(numbers(expected.dk));
});

test('f8 operands are read, and outDType is written', () => {
  const [q, k, v] = [1, 2, 3].map(seed => normal([1, 1, 6, 8], seed, 'f8e4m3'));
  const { o } = sdpa(q, k, v, { outDType: 'f32' });
  const same = sdpa(q.cast('f32'), k.cast('f32'), v.cast('f32')).o;
  expect(numbers(o)).toEqual(numbers(same));
  expect(sdpa(q, k, v).o.dtype).toBe('f8e4m3');
});
