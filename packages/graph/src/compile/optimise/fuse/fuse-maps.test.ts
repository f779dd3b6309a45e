import type { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../../testing/attention/attention-graph.ts';
import { expectClose, expectSame } from '../../../../testing/compare/expect-same.ts';

/** The number of primitives of each kind that `run` prepares on an engine. */
async function counted(
  run: (engine: ReturnType<typeof referenceEngine>) => unknown,
): Promise<Record<string, number>> {
  const engine = referenceEngine();
  const counts: Record<string, number> = {};
  const counting = {
    ...engine,
    primitives: {
      ...engine.primitives,
      prepare: (...call: Parameters<typeof engine.primitives.prepare>) => {
        counts[call[0].kind] = (counts[call[0].kind] ?? 0) + 1;
        return engine.primitives.prepare(...call);
      },
    },
  };
  await run(counting);
  return counts;
}

/** The number of primitives of each kind in the partitions of a graph. */
const primitivesOf = ({ graph, bindings }: GraphBuilder): Promise<Record<string, number>> =>
  counted(engine => graph.run(engine, bindings as Record<number, Tensor>));

/** The number of primitives of each kind in a compiled graph; also checks its results. */
const compiledPrimitivesOf = ({ graph, bindings }: GraphBuilder): Promise<Record<string, number>> =>
  counted(async engine => {
    const compiled = graph.compile(engine);
    const results = await compiled.execute(bindings);
    const expected = await graph.run(referenceEngine(), bindings, { policy: 'debug' });
    expectClose(results as Record<number, Tensor>, expected, 2e-6, 'reference');
  });

describe('a chain of elementwise operations is one map', () => {
  test('after a product, with broadcast operands', async () => {
    const g = new GraphBuilder();
    const y = g.op('MatMul', [g.input([3, 4]), g.input([4, 5])]);
    const biased = g.op('BiasAdd', [y, g.input([5])]);
    const gated = g.op('Multiply', [g.op('Sigmoid', [biased]), g.input([3, 1])]);
    g.op('Select', [g.op('GreaterEqual', [gated, g.input([])], {}, 'bool'), gated, g.scalar(0)]);
    await expectSame(g.graph, g.bindings);
    // A result that is read twice is stored.
    expect(await primitivesOf(g)).toEqual({ matmul: 1, map: 2 });
  });

  test('for each of its readers, one of which reads a shared result twice', async () => {
    const g = new GraphBuilder();
    const x = g.input([2, 3]);
    const t = g.op('Neg', [x]);
    const [square, sum, difference] = ['Multiply', 'Add', 'Subtract'].map(kind =>
      g.op(kind, [t, kind === 'Multiply' ? t : x]),
    );
    for (const y of [square, sum, difference]) g.op('MatMul', [y, g.input([3, 2])]);
    await expectSame(g.graph, g.bindings);
    expect(await compiledPrimitivesOf(g)).toEqual({ map: 3, matmul: 3 });
  });

  test('that reads one of its tensors twice, and joins another tensor', async () => {
    const g = new GraphBuilder();
    const x = g.input([2, 3]);
    const t = g.op('Tanh', [x]);
    g.op('SquaredDifference', [g.op('Multiply', [t, t]), g.op('Exp', [g.op('Neg', [x])])]);
    await expectSame(g.graph, g.bindings);
    expect(await primitivesOf(g)).toEqual({ map: 2 });
  });

  test('that reads each of its tensors twice, which is computed once', async () => {
    const g = new GraphBuilder();
    let t = g.input([2, 2]);
    for (let n = 0; n < 40; n++) t = g.op('Add', [t, t]);
    await expectSame(g.graph, g.bindings);
    expect(await primitivesOf(g)).toEqual({ map: 1 });
  });

  test('of thousands, in parts that a device compiles', async () => {
    const g = new GraphBuilder();
    let t = g.input([2, 2]);
    for (let n = 0; n < 3000; n++) t = g.op('Neg', [t]);
    expect(await primitivesOf(g)).toEqual({ map: 12 });
    expect(g.graph.partitions()).toHaveLength(1);
  });

  test('of indices', async () => {
    const g = new GraphBuilder();
    const x = g.input([4, 3]);
    const row = g.op('Add', [g.op('GenIndex', [x], { axis: 0 }, 'i32'), g.scalar(1, 'i32')], {}, 'i32');
    const below = g.op('GreaterEqual', [row, g.op('GenIndex', [x], { axis: 1 }, 'i32')], {}, 'bool');
    g.op('Select', [below, x, g.scalar(-1)]);
    await expectSame(g.graph, g.bindings);
  });

  test('up to the number of tensors that a device can bind', async () => {
    const g = new GraphBuilder();
    let sum = g.input([2, 2]);
    for (let n = 0; n < 16; n++) sum = g.op('Add', [sum, g.input([2, n % 2 ? 1 : 2])]);
    await expectSame(g.graph, g.bindings);
    expect(await primitivesOf(g)).toEqual({ map: 3 });
  });
});

describe('the tensor between two operations is stored', () => {
  test('in 16 bits, as it is rounded', async () => {
    const g = new GraphBuilder();
    const x = g.input([2, 2], { values: [1, 1.001, 1.01, 257] });
    const half = g.op('TypeCast', [x], {}, 'bf16');
    g.op('Subtract', [g.op('TypeCast', [half]), x]);
    await expectSame(g.graph, g.bindings);
    expect(await primitivesOf(g)).toEqual({ map: 2 });
  });

  test('when it is a result', async () => {
    const g = new GraphBuilder();
    const t = g.op('Tanh', [g.input([2, 2])]);
    g.graph.op('End', { inputs: [t], outputs: [] });
    g.op('Exp', [t]);
    await expectSame(g.graph, g.bindings);
    expect(await primitivesOf(g)).toEqual({ map: 2 });
  });

  test('when the next operation broadcasts it, and would compute it repeatedly', async () => {
    const g = new GraphBuilder();
    g.op('Add', [g.op('Exp', [g.input([3])]), g.input([4, 3])]);
    await expectSame(g.graph, g.bindings);
    expect(await primitivesOf(g)).toEqual({ map: 2 });
  });
});

describe('a compiled graph', () => {
  test('fuses maps of neighbouring partitions, and computes a small one for each of its readers', async () => {
    const g = new GraphBuilder();
    const scaled = g.op('Multiply', [g.input([2, 3]), g.scalar(0.5)]);
    const mean = g.op('Add', [scaled, g.input([2, 3])]);
    const square = g.op('Add', [g.op('Square', [scaled]), g.input([2, 3])]);
    for (const t of [mean, square]) g.graph.op('End', { inputs: [t], outputs: [] });
    g.op('Divide', [mean, g.op('Sqrt', [g.op('Abs', [square])])]);
    expect(await compiledPrimitivesOf(g)).toEqual({ map: 3 });
  });

  test('reads reshaped tensors in place, and copies only tensors in another order', async () => {
    const g = new GraphBuilder();
    const heads = g.op('StaticReshape', [g.op('Exp', [g.input([2, 6])])], {
      shape: [2, 3, 2],
      special_zero: false,
    });
    const turned = g.op('StaticTranspose', [heads], { order: [1, 0, 2] });
    const rows = g.op('StaticReshape', [turned], { shape: [3, 4], special_zero: false });
    g.op('MatMul', [rows, g.input([4, 2])]);
    expect(await compiledPrimitivesOf(g)).toEqual({ map: 2, matmul: 1 });
  });
});
