import { expect, test } from 'vitest';
import { normalise, normaliseBackward } from '../../../attention/call/normalise.ts';
import type { SdpaOptions } from '../../../attention/options/options.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { operandParts } from './operand-parts.ts';

const [B, H, S, D] = [2, 4, 8, 16];
const dense = (heads = H): Tensor => Tensor.zeros([B, heads, S, D]);

function partsOf(given: { q?: Tensor; k?: Tensor; v?: Tensor }, options: SdpaOptions<Tensor> = {}) {
  const { q = dense(), k = dense(), v = dense() } = given;
  const { problem, operands } = normalise({ q, k, v }, options);
  const { count, buffers } = operandParts(problem, operands);
  return {
    count,
    names: Object.entries({ q, k, v }).flatMap(([name, t]) => (buffers.has(t.data.buffer) ? [name] : [])),
  };
}

test('whole row-major tensors arrive in a part for each group of heads that share k and v', () => {
  expect(partsOf({})).toEqual({ count: 8, names: ['q', 'k', 'v'] });
  expect(partsOf({ k: dense(2), v: dense(1) })).toEqual({ count: 2, names: ['q', 'k', 'v'] });
  const x = dense();
  expect(partsOf({ q: x, k: x, v: x })).toEqual({ count: 8, names: ['q', 'k', 'v'] });
});

test('in backward so do o and dO, but not lse, which is read first', () => {
  const [q, k, v, o, dO] = Array.from({ length: 5 }, () => dense());
  const lse = Tensor.zeros([B, H, S]);
  const { problem, operands } = normaliseBackward({ q, k, v, o, lse, dO });
  const { buffers } = operandParts(problem.forward, operands);
  expect([q, k, v, o, dO, lse].map(t => buffers.has(t.data.buffer))).toEqual([
    true,
    true,
    true,
    true,
    true,
    false,
  ]);
});

test('views of larger storage, other orders, pages and storage that other operands read too arrive as a whole', () => {
  const storage = dense(8);
  const transposed = Tensor.zeros([B, S, H, D]).permute(0, 2, 1, 3);
  expect(partsOf({ q: storage.slice(1, 0, 4), k: transposed }).names).toEqual(['v']);
  const pages = Tensor.zeros([4, H, 4, D]);
  const pageTable = Tensor.from([0, 1, 2, 3], [B, 2], { dtype: 'i32' });
  const paged = { pageTableK: pageTable, pageTableV: pageTable, seqLensKv: [8, 8] };
  expect(partsOf({ k: pages, v: pages }, paged).names).toEqual(['q']);
  const square = Tensor.zeros([B, H, S, S]);
  expect(partsOf({ q: square, k: Tensor.zeros([B, H, S, S]) }, { bias: square }).names).toEqual(['k', 'v']);
});

test('operands with block scales arrive as a whole: they are dequantised first', () => {
  const x = Tensor.zeros([1, 2, 64, 32], { dtype: 'f8e4m3' });
  const descale = Tensor.zeros([1, 2, 64, 1], { dtype: 'u8' });
  const mxfp8 = {
    descaleQ: descale,
    descaleK: descale,
    descaleV: Tensor.zeros([1, 2, 2, 32], { dtype: 'u8' }),
  };
  expect(partsOf({ q: x, k: x, v: x }, { mxfp8, outDType: 'f16' })).toEqual({ count: 1, names: [] });
});
