import { fileURLToPath } from 'node:url';
import { refusedLines } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';

const index = fileURLToPath(new URL('index.ts', import.meta.url));

const start = `import { Graph } from ${JSON.stringify(index)}; const g = new Graph(); const t = g.tensor({ dtype: 'f32' });`;

const accepted = [
  "g.op('MatMul', { attrs: { transpose_b: true }, inputs: [t, t], outputs: [t] });",
  "g.op('MatMul', { inputs: [t, t, t], outputs: [t] });",
  "g.op('SoftMax', { attrs: { axis: -1, mode: 'inf_as_zero' }, inputs: [t], outputs: [t, t] });",
  "g.op('PowBackward', { attrs: { beta: 2 }, inputs: [t, t], outputs: [t] });",
  "g.op('ReduceSum', { attrs: { axes: [0], keep_dims: true }, inputs: [t], outputs: [t] });",
  "g.op('Sdpa', { attrs: { operands: 'q k v', results: 'o' }, inputs: [t, t, t], outputs: [t] });",
  "g.op('End', { inputs: [t], outputs: [] });",
  "g.add({ kind: 'Later' as string, attrs: { any: 1 }, inputs: [t], outputs: [t] });",
];

const refused = [
  "g.op('MatMull', { inputs: [t, t], outputs: [t] });",
  "g.op('MatMul', { attrs: { transposeB: true }, inputs: [t, t], outputs: [t] });",
  "g.op('MatMul', { attrs: { transpose_b: 1 }, inputs: [t, t], outputs: [t] });",
  "g.op('MatMul', { attr: { transpose_b: true }, inputs: [t, t], outputs: [t] });",
  "g.op('MatMul', { inputs: [t], outputs: [t] });",
  "g.op('MatMul', { inputs: [t, t, t, t], outputs: [t] });",
  "g.op('SoftMax', { attrs: { mode: 'zero' }, inputs: [t], outputs: [t] });",
  "g.op('Pow', { inputs: [t], outputs: [t] });",
  "g.op('Exp', { inputs: [t], outputs: [] });",
  "g.tensor({ dtype: 'f33' });",
];

test('the compiler accepts the kinds, attributes and numbers of tensors of the table, and refuses others', () => {
  expect(refusedLines([start, ...accepted])).toEqual([]);
  expect(refusedLines([start, ...refused])).toEqual(refused.map((_, n) => n + 2));
});
