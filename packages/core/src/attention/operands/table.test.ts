import { expect, test } from 'vitest';
import { quantiseMxfp8 } from '../../mxfp8/quantise.ts';
import { elementsSpanned } from '../../tensor/shape.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { normalise, normaliseBackward } from '../call/normalise.ts';
import { fp8OperandTable, mxfp8OperandTable } from './fp8-table.ts';
import { operandLayouts } from './table.ts';

const zeros = (...shape: number[]): Tensor => Tensor.zeros(shape);
const [q, k] = [zeros(2, 4, 5, 8), zeros(2, 2, 6, 8)];
const names = (problem: Parameters<typeof operandLayouts>[0]): string[] =>
  Object.keys(operandLayouts(problem));

test('a plain problem has its inputs and results, and nothing else', () => {
  expect(names(normalise({ q, k, v: k }).problem)).toEqual(['q', 'k', 'v', 'o', 'lse']);
});

test('each option that gives a tensor gives the problem that operand', () => {
  const mask = Tensor.zeros([6], { dtype: 'bool' });
  const { problem } = normalise(
    { q, k, v: k },
    {
      ...{ bias: zeros(4, 1, 6), mask, alibi: true, sink: [0, 0, 0, 0], dropout: { mask, p: 0.5 } },
      ...{ seqLensQ: [5, 1], cuSeqLensKv: [0, 3, 6], outputs: { max: true, dropoutMask: true } },
    },
  );
  expect(names(problem)).toEqual([
    ...['q', 'k', 'v', 'o', 'lse', 'bias', 'alibi', 'mask', 'sink', 'seqLensQ', 'cuSeqLensKv'],
    ...['dropoutMask', 'max', 'outputs.dropoutMask'],
  ]);
  const { bias, cuSeqLensKv } = operandLayouts(problem);
  expect(bias).toMatchObject({ dtypes: ['f32'], shape: [4, 1, 6], strides: [6, 0, 1] });
  expect(bias.footprint).toMatchObject({
    heads: { count: 4, stride: 6 },
    rows: { count: 5, stride: 0 },
    inner: 6,
  });
  expect(cuSeqLensKv).toMatchObject({ dtypes: ['i32', 'u32'], shape: [3], footprint: null });
});

test('backward reads the results of forward, and gradients have the layouts of their operands', () => {
  const inputs = { q, k, v: k, o: q, lse: zeros(2, 4, 5), dO: q, dLse: zeros(2, 4, 5) };
  const { problem } = normaliseBackward(inputs, { sink: [0, 0, 0, 0], bias: zeros(5, 6) });
  const layouts = operandLayouts(problem);
  const read = ['q', 'k', 'v', 'o', 'lse', 'dO', 'dLse', 'bias', 'sink'];
  expect(Object.keys(layouts)).toEqual([...read, 'dq', 'dk', 'dv', 'dbias', 'dsink']);
  expect(layouts.dk).toEqual(layouts.k);
  expect(layouts.dbias.footprint).toMatchObject({ batches: { count: 1 }, rows: { count: 5, stride: 6 } });
});

test('a packed or ragged operand is touched as a whole, head by head', () => {
  const packed = zeros(7, 4, 8);
  const { problem } = normalise(
    { q: packed, k: packed, v: packed },
    { cuSeqLensQ: [0, 3, 7], seqLensKv: [2, 2], raggedOffsets: { k: [0, 64, 224], v: [0, 64, 224] } },
  );
  const layouts = operandLayouts(problem);
  expect(Object.keys(layouts)).toEqual([
    ...['q', 'k', 'v', 'o', 'lse', 'seqLensKv', 'cuSeqLensQ', 'raggedOffsets.k', 'raggedOffsets.v'],
  ]);
  expect(layouts.q).toMatchObject({ shape: [7, 4, 8], strides: [32, 8, 1] });
  expect(layouts.q.footprint).toMatchObject({ batches: { count: 1 }, heads: { stride: 8 }, inner: 200 });
  expect(layouts.lse).toMatchObject({ shape: [4, 7], footprint: { heads: { stride: 7 }, inner: 7 } });
});

test('a footprint ends where its tensor ends', () => {
  const gaps = Tensor.zeros([2, 2, 6, 8], { strides: [500, 200, 10, 1] });
  const layouts = operandLayouts(normalise({ q, k: gaps, v: gaps }).problem);
  for (const { shape, strides, footprint } of Object.values(layouts)) {
    if (!footprint) continue;
    const { batches, heads, rows, inner } = footprint;
    const last = [batches, heads, rows].reduce((at, { count, stride }) => at + (count - 1) * stride, inner);
    expect(last).toBe(elementsSpanned({ shape, strides }));
  }
});

test('a paged operand has a table, and counts of its pages when that is packed', () => {
  const pages = zeros(4, 2, 4, 8);
  const i32 = (values: number[], shape: number[]): Tensor => Tensor.from(values, shape, { dtype: 'i32' });
  const { problem } = normalise(
    { q, k: pages, v: pages },
    {
      ...{ seqLensKv: [4, 8], pageTableK: i32([0, 1, 2, 3], [2, 2]) },
      ...{ pageTableV: i32([0, 1, 2], [3]), cuPagesV: [0, 1, 3] },
    },
  );
  const { pageTableK, pageTableV, cuPagesV, ...others } = operandLayouts(problem);
  expect([pageTableK.shape, pageTableV.shape, cuPagesV.shape]).toEqual([[2, 2], [3], [3]]);
  expect(Object.keys(others)).toEqual(['q', 'k', 'v', 'o', 'lse', 'seqLensKv']);
});

test('block scales and roundings have the layouts of their operands', () => {
  const values = zeros(1, 1, 33, 40);
  const [rows, columns] = [quantiseMxfp8(values), quantiseMxfp8(values, { along: 'positions' })];
  const mxfp8 = { descaleQ: rows.scales, descaleK: rows.scales, descaleV: columns.scales };
  const { problem } = normalise({ q: rows.values, k: rows.values, v: columns.values }, { mxfp8 });
  const layouts = operandLayouts(problem, mxfp8OperandTable);
  expect(Object.keys(layouts)).toEqual(['mxfp8.descaleQ', 'mxfp8.descaleK', 'mxfp8.descaleV']);
  expect(layouts['mxfp8.descaleV'].shape).toEqual(columns.scales.shape);
});

test('every scalar of fp8 is a list of one number', () => {
  expect(Object.values(fp8OperandTable).every(({ form, length }) => form === 'list' && length)).toBe(true);
});
