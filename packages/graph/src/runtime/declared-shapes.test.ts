import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { sharedGpu } from '../../testing/compare/webgpu-engine.ts';
import { Graph } from '../graph.ts';
import { runInF32 } from './run-in-f32.ts';

/** x [2, 4] times a weight that is declared as [4, 3]. */
function product() {
  const g = new Graph();
  const x = g.tensor({ dtype: 'f32', shape: [2, 4] });
  const w = g.tensor({ name: 'w', dtype: 'f32', shape: [4, 3] });
  const y = g.tensor({ dtype: 'f32' });
  g.op('MatMul', { attrs: { transpose_b: false }, inputs: [x, w], outputs: [y] });
  return { g: g.finalize(), x, w };
}

const wrong = "tensor 1 'w' (f32 [4, 3]) is declared with the shape [4,3], got [3,4]";

test('a tensor that is bound must have the shape that the graph declares', async () => {
  const { g, x, w } = product();
  const bindings = { [x.id]: Tensor.zeros([2, 4]), [w.id]: Tensor.zeros([3, 4]) };
  await expect(g.run(cpuEngine(), bindings)).rejects.toThrow(wrong);
  await expect(g.partitions()[0].run(cpuEngine(), bindings)).rejects.toThrow(wrong);
  await expect(runInF32(g, referenceEngine(), bindings)).rejects.toThrow(wrong);
  expect(() => g.compile(cpuEngine(), { inputs: { [w.id]: { shape: [3, 4] } } })).toThrow(wrong);
});

test.each<[string, object, RegExp]>([
  ['a negative extent', { shape: [-4, 3] }, /^tensor 1: shape must hold integers ≥ 0/],
  ['a fraction', { shape: [1.5, 3] }, /^tensor 1: shape must hold integers ≥ 0/],
  ['no shape', {}, /^tensor 1: shape must hold integers ≥ 0/],
  ['strides of another rank', { shape: [4, 3], strides: [1] }, /^tensor 1: strides must be one integer ≥ 0/],
])('compile refuses an input with %s', (_, known, message) => {
  const { g, w } = product();
  expect(() => g.compile(cpuEngine(), { inputs: { [w.id]: known as never } })).toThrow(message);
});

test('an extent that is declared as unknown accepts any extent', async () => {
  const g = new Graph();
  const x = g.tensor({ dtype: 'f32', shape: [-1, 2] });
  const y = g.tensor({ dtype: 'f32' });
  g.op('Exp', { inputs: [x], outputs: [y] });
  const run = async (rows: number) =>
    (await g.run(cpuEngine(), { [x.id]: Tensor.zeros([rows, 2]) }))[y.id].shape;
  expect([await run(3), await run(5)]).toEqual([
    [3, 2],
    [5, 2],
  ]);
});

test('a destroyed tensor is reported as destroyed', async () => {
  const { engine } = await sharedGpu();
  const g = new Graph();
  const x = g.tensor({ dtype: 'f32', shape: [2] });
  const y = g.tensor({ dtype: 'f32' });
  g.op('Exp', { inputs: [x], outputs: [y] });
  const gone = engine.upload(Tensor.zeros([2]));
  gone.destroy();
  await expect(g.run(engine, { [x.id]: gone })).rejects.toThrow('tensor 0 was destroyed');
});

test.each([
  ['two elements at one offset', [1, 1]],
  ['an expanded dimension', [0, 1]],
  ['rows that interleave', [2, 2]],
])('an output with %s is refused, because one element would overwrite another', async (_, strides) => {
  const refused = `tensor 1 must not overlap itself in memory, got strides [${strides}]`;
  const graphOf = (declared?: number[]) => {
    const g = new Graph();
    const x = g.tensor({ dtype: 'f32', shape: [2, 2] });
    const y = g.tensor({ dtype: 'f32', shape: [2, 2], strides: declared });
    g.op('Exp', { inputs: [x], outputs: [y] });
    return { g: g.finalize(), x, y };
  };
  const declared = graphOf(strides);
  const input = Tensor.zeros([2, 2]);
  await expect(declared.g.run(cpuEngine(), { [declared.x.id]: input })).rejects.toThrow(refused);
  const { g, y } = graphOf();
  const outputs = { [y.id]: { shape: [2, 2], strides } };
  expect(() => g.partitions()[0].compile(cpuEngine(), { outputs })).toThrow(refused);
});

test('an input may be expanded, and the rows of an output may have gaps', async () => {
  const g = new Graph();
  const x = g.tensor({ dtype: 'f32', shape: [2, 2] });
  const y = g.tensor({ dtype: 'f32', shape: [2, 2], strides: [3, 1] });
  g.op('Exp', { inputs: [x], outputs: [y] });
  const results = await g.run(cpuEngine(), { [x.id]: Tensor.zeros([1, 2]).expand([2, 2]) });
  expect([...results[y.id].toFloat32()]).toEqual([1, 1, 1, 1]);
});
