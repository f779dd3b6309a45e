import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { toTorch } from '../torch/index.ts';

test.each<readonly [string, 'b' | 'seed', unknown, string]>([
  ['another shape', 'b', Tensor.zeros([3]), 'must be bound to shape [2,3], got [3]'],
  ['another dtype', 'b', Tensor.zeros([2, 3], { dtype: 'i32' }), 'must be bound to f32, got i32'],
  ['one number for several', 'b', 1, 'cannot be bound to the number 1'],
  ['no value', 'b', null, 'must be bound to a tensor, got null'],
  ['a fraction for an integer', 'seed', 1.5, 'must be a bigint or a safe integer in [-2^63, 2^64), got 1.5'],
  ['one word of two', 'seed', Tensor.from([1], [], { dtype: 'u32' }), 'must be bound to shape [2], got []'],
])('a constant with %s is refused', (_, name, value, message) => {
  const g = new GraphBuilder();
  const [a, b] = [g.input([2, 3]), g.input([2, 3])];
  g.op('Add', [a, b]);
  const seed = g.graph.tensor({ dtype: 'i64', shape: [] });
  g.op('RNG', [a, seed, g.scalar(1n, 'i64')]);
  const { id } = { b, seed }[name];
  expect(() => toTorch(g.graph, { constants: { [id]: value as Tensor } })).toThrow(message);
});

test('a constant for a tensor that the graph does not have is refused', () => {
  const g = new GraphBuilder();
  g.op('Exp', [g.input([2])]);
  for (const option of ['constants', 'batches', 'shard']) {
    expect(() => toTorch(g.graph, { [option]: { x: [] } })).toThrow(
      `options.${option} has tensor x, which the graph does not have`,
    );
  }
  expect(() => toTorch(g.graph, { constants: { 99: Tensor.zeros([2]) } })).toThrow(
    'options.constants has tensor 99, which the graph does not have',
  );
});

test('a loss of several numbers, and a parameter that is not an id, are refused', () => {
  const g = new GraphBuilder();
  const w = g.input([2, 3]);
  const [y, means] = [g.op('Exp', [w]), g.op('ReduceMean', [w], { axes: [0, 1], keep_dims: true })];
  expect(() => toTorch(g.graph, { parameters: { w: w.id }, loss: y.id })).toThrow(
    'options.loss must be one number, got a tensor of shape [2,3]',
  );
  expect(toTorch(g.graph, { parameters: { w: w.id }, loss: means.id })).toHaveProperty(['exported/model.py']);
  expect(() => toTorch(g.graph, { parameters: { w: Tensor.zeros([2, 3]) as never } })).toThrow(
    'options.parameters has Tensor in place of an id',
  );
});

test.each<readonly [string, Record<string, Tensor>, string]>([
  ['no tensor for a parameter', { v: Tensor.zeros([2]) }, 'got no such tensor'],
  ['another shape than a parameter', { w: Tensor.zeros([1, 2]) }, 'got [1,2]'],
])('weights with %s are refused', (_, weights, got) => {
  const g = new GraphBuilder();
  const w = g.input([2]);
  g.op('Exp', [w]);
  expect(() => toTorch(g.graph, { parameters: { w: w.id }, weights })).toThrow(
    `options.weights must have 'w' with the shape [2] of the parameter, ${got}`,
  );
});
