import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { integers, model, node, value } from '../../../../testing/onnx/model-file.ts';
import { fromOnnx } from '../index.ts';
import { integerField, messageField, stringField } from '../protobuf.ts';

describe('a branch', () => {
  /** y = If(rank of x ≥ 2, |x|, −|x|). Both branches use the same node names and read x from outside. */
  const branch = (ops: readonly string[]) =>
    ops.flatMap((op, n) => messageField(1, node(op, [n === 0 ? 'x' : `v${n - 1}`], [`v${n}`])));
  const graphOf = (ops: readonly string[]) => [
    ...branch(ops),
    messageField(12, value(`v${ops.length - 1}`, 1, [])),
  ];
  const branches = [
    messageField(5, [stringField(1, 'then_branch'), messageField(6, graphOf(['Abs'])), integerField(20, 5)]),
    messageField(5, [
      stringField(1, 'else_branch'),
      messageField(6, graphOf(['Abs', 'Neg'])),
      integerField(20, 5),
    ]),
  ];
  const conditional = (shape: readonly number[], condition: readonly Uint8Array[]) =>
    model([
      ...condition,
      messageField(1, node('If', ['c'], ['y'], branches)),
      messageField(11, value('x', 1, shape)),
      messageField(12, value('y', 1, shape)),
    ]);
  const byRank = [
    messageField(1, node('Shape', ['x'], ['s'])),
    messageField(1, node('Size', ['s'], ['rank'])),
    integers('two', [2]),
    messageField(1, node('GreaterOrEqual', ['rank', 'two'], ['c'])),
  ];

  test.each([
    [
      [2, 1],
      [1, 2],
    ],
    [[2], [-1, -2]],
  ])('of x of shape %j is chosen by the shape', async (shape, expected) => {
    const x = Tensor.from([-1, 2], shape);
    const { y } = await (await fromOnnx(conditional(shape, byRank))).run(cpuEngine(), { x });
    expect(Array.from(y?.toFloat32() ?? [])).toEqual(expected);
  });

  test('that can only be chosen at run time is refused by name', async () => {
    const late = [
      messageField(1, node('ReduceSum', ['x'], ['sum'])),
      messageField(1, node('Exp', ['sum'], ['e'])),
      messageField(1, node('MatMul', ['x', 'x'], ['m'])),
      messageField(
        1,
        node(
          'Cast',
          ['m'],
          ['c'],
          [messageField(5, [stringField(1, 'to'), integerField(3, 9), integerField(20, 2)])],
        ),
      ),
    ];
    const read = await fromOnnx(conditional([2], late));
    expect(() => read.graph()).toThrow(
      "If 'If_0': chooses a branch by 'c', which is known only when the graph runs",
    );
  });
});

const toBool = [stringField(1, 'to'), integerField(3, 9), integerField(20, 2)];

describe('nodes that precede those they read', () => {
  const backwards = [messageField(1, node('Neg', ['a'], ['b'])), messageField(1, node('Abs', ['x'], ['a']))];
  const x = Tensor.from([-1, 2], [2]);
  const run = async (graph: readonly Uint8Array[]) => {
    const file = model([
      ...graph,
      messageField(11, value('x', 1, [2])),
      messageField(12, value('y', 1, [2])),
    ]);
    const { y } = await (await fromOnnx(file)).run(cpuEngine(), { x });
    return Array.from(y?.toFloat32() ?? []);
  };

  test('are read, as onnxruntime reads them', async () => {
    expect(await run([messageField(1, node('Exp', ['b'], ['y'])), ...backwards])).toEqual([
      expect.closeTo(Math.exp(-1), 5),
      expect.closeTo(Math.exp(-2), 5),
    ]);
  });

  test('are read in a branch', async () => {
    const branch = [...backwards, messageField(12, value('b', 1, [2]))];
    const both = ['then_branch', 'else_branch'].map(name =>
      messageField(5, [stringField(1, name), messageField(6, branch), integerField(20, 5)]),
    );
    const condition = [
      messageField(1, node('Shape', ['x'], ['s'])),
      messageField(1, node('Cast', ['s'], ['c'], [messageField(5, toBool)])),
    ];
    expect(await run([messageField(1, node('If', ['c'], ['y'], both)), ...condition])).toEqual([-1, -2]);
  });
});
