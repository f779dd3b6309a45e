import {
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  Tensor,
  UnsupportedError,
} from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { InvalidGraphError } from '../errors.ts';
import { Graph } from '../graph.ts';

const f32 = (g: Graph, shape?: readonly number[]) => g.tensor({ dtype: 'f32', ...(shape && { shape }) });

describe('the outputs of a graph', () => {
  const branching = () => {
    const g = new Graph();
    const [x, p, stats, y] = [f32(g, [2, 3]), f32(g), f32(g), f32(g)];
    g.op('SoftMax', { inputs: [x], outputs: [p, stats], name: 'weights' });
    g.op('Exp', { inputs: [p], outputs: [y] });
    return { g, x, p, stats, y };
  };

  test('are the tensors that nothing reads', () => {
    const { g, stats, y } = branching();
    expect(g.finalize({ outputs: [y, stats] }).outputs.map(t => t.id)).toEqual([stats.id, y.id]);
  });

  test('include every tensor that is not read', () => {
    const { g, y } = branching();
    const rule = "tensor 2 of SoftMax 0 'weights' is neither read nor an output: add it to the outputs";
    expect(() => g.finalize({ outputs: [y] })).toThrow(new InvalidGraphError(rule, 'tensor 2'));
    expect(g.isFinalized).toBe(false);
  });

  test('are produced, and read only by an End', () => {
    const { g, x, p, stats, y } = branching();
    expect(() => g.finalize({ outputs: [y, stats, x] })).toThrow(
      'tensor 0 should be an output, but no operation produces it',
    );
    expect(() => g.finalize({ outputs: [y, stats, p] })).toThrow(
      "tensor 1 of SoftMax 0 'weights' should be an output, but Exp 1 reads it: mark it with an End",
    );
    g.op('End', { inputs: [p], outputs: [] });
    g.finalize({ outputs: [y, stats, p] });
  });
});

describe('compile refuses', () => {
  test('unknown shapes, naming the operation', () => {
    const g = new Graph();
    const [x, y] = [f32(g), f32(g)];
    g.op('Wildcard', { inputs: [x], outputs: [y], name: 'custom' });
    const [partition] = g.finalize().partitions();
    expect(partition.supported).toBe(false);
    expect(() => partition.compile(referenceEngine())).toThrow(UnsupportedError);
    expect(() => partition.compile(referenceEngine())).toThrow("Wildcard 0 'custom' computes nothing");
  });

  test('tensors that the partition does not have, and shapes that do not fit', () => {
    const g = new Graph();
    const [a, b, y] = [f32(g, [2, 3]), f32(g), f32(g)];
    g.op('MatMul', { inputs: [a, b], outputs: [y], name: 'scores' });
    const [partition] = g.finalize().partitions();
    const compile = (inputs: Record<number, { shape: readonly number[] }>) => () =>
      partition.compile(referenceEngine(), { inputs });
    expect(compile({ 9: { shape: [1] } })).toThrow(InvalidArgumentError);
    expect(compile({ 9: { shape: [1] } })).toThrow('inputs has tensor 9, which is not one of 0, 1');
    expect(compile({ [b.id]: { shape: [4, 2] } })).toThrow(InvalidShapeError);
    expect(compile({ [b.id]: { shape: [4, 2] } })).toThrow(
      "operation MatMul 0 'scores' of tensors 0, 1: MatMul cannot multiply [2,3] by [4,2]: 3 columns, 4 rows",
    );
  });
});

describe('execute refuses, naming the tensor', () => {
  const ready = () => {
    const g = new Graph();
    const [x, s, y] = [
      f32(g, [2, 2]),
      g.tensor({ dtype: 'f32', shape: [], property: 'host_scalar' }),
      f32(g),
    ];
    g.op('Multiply', { inputs: [x, s], outputs: [y] });
    const [partition] = g.finalize().partitions();
    return partition.compile(referenceEngine());
  };
  const x = Tensor.from([1, 2, 3, 4], [2, 2]);

  test.each([
    ['one that is missing', { 0: x }, InvalidArgumentError, /^tensor 1 .* is not bound$/],
    [
      'another dtype',
      { 0: x.cast('f16'), 1: 2 },
      InvalidDTypeError,
      /^tensor 0 .* must be bound to f32, got f16$/,
    ],
    [
      'another shape',
      { 0: Tensor.from([1, 2], [2]), 1: 2 },
      InvalidShapeError,
      /^tensor 0 .* must be bound to shape \[2,2\], got \[2\]$/,
    ],
    [
      'other strides',
      { 0: Tensor.from([1, 2, 3, 4], [2, 2], { strides: [1, 2] }), 1: 2 },
      InvalidShapeError,
      /^tensor 0 .* was compiled for strides \[2,1\], got \[1,2\]$/,
    ],
    [
      'a number for a matrix',
      { 0: 5, 1: 2 },
      InvalidShapeError,
      /^tensor 0 .* cannot be bound to the number 5$/,
    ],
    [
      'a number as an output',
      { 0: x, 1: 2, 2: 7 },
      InvalidArgumentError,
      /^tensor 2 .*cannot be the number 7$/,
    ],
  ] as const)('%s', async (_, bindings, kind, says) => {
    const compiled = ready();
    const error = await compiled.execute(bindings).catch(e => e);
    expect(error).toBeInstanceOf(kind);
    expect(error.message).toMatch(says);
    // A failed call does not change the partition.
    expect([...(await compiled.execute({ 0: x, 1: 2 }))[2].toFloat64()]).toEqual([2, 4, 6, 8]);
  });

  test('an output in the memory of an input, whose elements are read after others are written', async () => {
    const { data } = Tensor.from([1, 2, 3, 4, 5, 6], [6]);
    const [from, to] = [0, 2].map(offset => Tensor.wrap(data, { dtype: 'f32', shape: [2, 2], offset }));
    await expect(ready().execute({ 0: from, 1: 2, 2: to })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'tensor 2 is an output and must not overlap tensor 0 in memory',
    });
    expect([...data]).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
