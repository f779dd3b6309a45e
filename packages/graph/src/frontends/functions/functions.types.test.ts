import { fileURLToPath } from 'node:url';
import { refusedLines } from '@tilewise/readme-examples';
import { expect, test } from 'vitest';

const index = fileURLToPath(new URL('index.ts', import.meta.url));
const start = [
  `import * as ops from ${JSON.stringify(index)}; declare const x: ops.Variable;`,
  'declare const engine: Parameters<typeof ops.compile>[0];',
];

const accepted = [
  'ops.matmul(x, x, { transposeB: true }).shape;',
  'ops.matmul(x, x, x);',
  'ops.add(x, 1);',
  "ops.gelu(x, { mode: 'gelu_tanh' });",
  'ops.layerNorm(x); ops.layerNorm(x, x, { epsilon: 1e-6 });',
  'const [values, indices] = ops.topK(x, { k: 2 }); values.shape; indices.shape;',
  "ops.typeCast(x, { dtype: 'f16' });",
  'ops.compile(engine, ({ a }) => ({ sum: ops.add(a, 1) }), { a: [1] })({ a: 1 }).then(({ sum }) => sum.shape);',
];

const refused = [
  'ops.matMul(x, x);',
  'ops.matmul(x, x, { transpose: true });',
  'ops.matmul(x, x, { transposeB: 1 });',
  "ops.gelu(x, { mode: 'erf' });",
  'ops.topK(x);',
  'ops.layerNorm(x, { keepStats: true });',
  'ops.add(x);',
  'ops.add(x, x, x);',
  'ops.attention(x, x, x, { casual: true });',
  "ops.typeCast(x, { dtype: 'f33' });",
  'ops.compile(engine, ({ b }) => b, { a: [1] });',
  'ops.compile(engine, ({ a }) => a, { a: [1] })({ b: 1 });',
];

test('the compiler accepts existing operands, attributes and inputs, and refuses others', () => {
  expect(refusedLines([...start, ...accepted])).toEqual([]);
  expect(refusedLines([...start, ...refused])).toEqual(refused.map((_, n) => n + 1 + start.length));
});
