import { readFileSync } from 'node:fs';
import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { withOperationComments } from '../../../testing/documentation/operation-comments.ts';
import { Graph } from '../../graph.ts';
import { operations } from '../../ops/table.ts';
import * as ops from './index.ts';

const {
  add,
  attention,
  callGraph,
  compile,
  constant,
  divide,
  evalShape,
  grad,
  matmul,
  multiply,
  reduceSum,
  slice,
  softmax,
  subtract,
  topK,
} = ops;
type Variable = ops.Variable;

const engine = cpuEngine();
const row = (...values: number[]): Tensor => Tensor.from(values, [1, values.length]);

test('a reduction of a scalar without axes is the reduction of its only element', async () => {
  const run = compile(
    engine,
    ({ x }) => ({
      sum: ops.reduceSum(x),
      kept: ops.reduceMean(x, { keepDims: true }),
      norm: ops.reduceL2(x, {}),
      slope: ops.gradientsOf(ops.reduceL1(x), [x])[0],
    }),
    { x: [] },
  );
  const results = await run({ x: -3 });
  const numbers = Object.values(results).map(({ shape, data }) => [shape, ...data]);
  expect(numbers).toEqual([-3, -3, 3, -1].map(x => [[], x]));
  expect(() => evalShape(({ x }) => ops.reduceSum(x, { axes: [0] }), { x: [] })).toThrow('axes');
});

test('there is a function for every operation of the table that computes something', () => {
  const others = ['Concat', 'Split', 'Constant', 'End', 'Wildcard', 'Sdpa'];
  const kinds = operations
    .map(({ kind }) => kind)
    .filter(kind => !/Backward/.test(kind) && !others.includes(kind));
  const named = new Set(Object.keys(ops).map(name => name.toLowerCase()));
  expect(kinds.filter(kind => !named.has(kind.toLowerCase()))).toEqual([]);
});

test('the comment of each function is the summary of its operation (vitest -u writes the comments)', async () => {
  const source = readFileSync(new URL('operations.ts', import.meta.url), 'utf8');
  await expect(withOperationComments(source)).toMatchFileSnapshot('operations.ts');
});

test('a function of named tensors runs, with numbers and host tensors as constants', async () => {
  const f = compile(engine, ({ x }) => add(multiply(x, 2), row(10, 20)), { x: [1, 2] });
  const y = await f({ x: row(1, 2) });
  expect([...y.toFloat32()]).toEqual([12, 24]);
  expect(f.results).toMatchObject([{ dtype: 'f32', shape: [1, 2] }]);
  f.release();
  await expect(f({ x: row(1, 2) })).rejects.toThrow('released');
});

test('a softmax without an axis is along the last, as its logarithm is', async () => {
  const f = compile(engine, ({ x }) => ({ p: softmax(x), first: softmax(x, { axis: 0 }) }), { x: [2, 2, 2] });
  const { p, first } = await f({ x: Tensor.zeros([2, 2, 2]) });
  expect([p.get(0, 0, 0), first.get(0, 0, 0)]).toEqual([0.5, 0.5]);
  const rows = compile(engine, ({ x }) => softmax(x), { x: [1, 1, 2] });
  expect([...(await rows({ x: Tensor.zeros([1, 1, 2]) })).toFloat32()]).toEqual([0.5, 0.5]);
  f.release();
  rows.release();
});

test('a reduction without axes is over all axes, as in PyTorch', async () => {
  const x = Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]);
  const f = compile(
    engine,
    ({ x }) => ({
      sum: ops.reduceSum(x),
      mean: ops.reduceMean(x, { axes: undefined }),
      kept: ops.reduceMax(x, { keepDims: true }),
      rows: ops.reduceMean(x, { axes: [1] }),
      constant: ops.reduceProd(Tensor.from([2, 3], [2])),
    }),
    { x: [2, 3] },
  );
  const { sum, mean, kept, rows, constant } = await f({ x });
  expect([sum.get(), mean.get(), kept.get(0, 0), constant.get()]).toEqual([21, 3.5, 6, 6]);
  expect([sum.shape, kept.shape]).toEqual([[], [1, 1]]);
  expect([...rows.toFloat32()]).toEqual([2, 5]);
  f.release();
});

test('constants live until the last call has ended, and tensors of the caller longer', async () => {
  const released = new Set<Tensor>();
  const release = (tensor: Tensor): void => {
    released.add(tensor);
    engine.release(tensor);
  };
  const watched: typeof engine = { ...engine, release };
  const own = engine.upload(row(10, 20));
  const f = compile(watched, ({ x }) => add(multiply(x, own), row(1, 2)), { x: [1, 2] });
  const calls = [f({ x: row(1, 2) }), f({ x: row(3, 4) })];
  f.release();
  f.release();
  expect(released.size).toBe(0);
  const results = await Promise.all(calls);
  expect(results.map(y => [...y.toFloat32()])).toEqual([
    [11, 42],
    [31, 82],
  ]);
  expect(released.size).toBeGreaterThan(0);
  expect(released.has(own)).toBe(false);
});

test('if a constant cannot be uploaded, earlier constants and the graph are freed', () => {
  const held = new Set<Tensor>();
  const made = (tensor: Tensor): Tensor => {
    held.add(tensor);
    return tensor;
  };
  const { primitives } = engine;
  let uploads = 0;
  const failing: typeof engine = {
    ...engine,
    upload(tensor) {
      if (++uploads === 2) throw new Error('out of memory');
      return made(primitives.view(tensor, tensor));
    },
    release: tensor => {
      held.delete(tensor);
    },
    primitives: { ...primitives, allocate: desc => made(primitives.allocate(desc)) },
  };
  const products = ({ x }: { x: Variable }) => matmul(softmax(matmul(x, row(1, 2))), Tensor.zeros([2, 3]));
  expect(() => compile(failing, products, { x: [2, 1] })).toThrow('out of memory');
  expect([...held]).toEqual([]);
});

test('results have the structure that the function gives them', async () => {
  const f = compile(
    engine,
    ({ x }) => ({ both: topK(x, { k: 1 }), self: x, sum: [reduceSum(x, { axes: [1] })] }),
    { x: [1, 2] },
  );
  const { both, self, sum } = await f({ x: row(3, 4) });
  expect(both.map(t => [...t.toFloat32()])).toEqual([[4], [1]]);
  expect([...self.toFloat32()]).toEqual([3, 4]);
  expect([...sum[0].toFloat32()]).toEqual([7]);
  f.release();
});

test("results are written to the caller's memory", async () => {
  const f = compile(engine, ({ x }) => [multiply(x, x), add(x, 1)], { x: [1, 2] });
  const own = Tensor.zeros([1, 2]);
  const [square] = await f({ x: row(3, 4) }, [own]);
  expect(square).toBe(own);
  expect([...own.toFloat32()]).toEqual([9, 16]);
  f.release();
});

test.each([add, subtract, multiply, divide])(
  'a number before a 16-bit operand does not make the result f32',
  fn => {
    const specs = { x: { shape: [2], dtype: 'f16' } } as const;
    expect(evalShape(({ x }) => [fn(1, x), fn(x, 1)], specs)).toEqual([specs.x, specs.x]);
  },
);

test('a result of integers and floats, or a fraction, is a float, as in PyTorch', async () => {
  const specs = { i: { shape: [3], dtype: 'i32' }, x: [3] } as const;
  const dtypes = evalShape(
    ({ i, x }) => [multiply(i, x), multiply(x, i), multiply(i, 1.5), multiply(1.5, i), multiply(2, i)],
    specs,
  ).map(({ dtype }) => dtype);
  expect(dtypes).toEqual(['f32', 'f32', 'f32', 'f32', 'i32']);
  const f = compile(engine, ({ i }) => multiply(i, 1.5), { i: specs.i });
  expect([...(await f({ i: Tensor.from([1, 2, -3], [3], { dtype: 'i32' }) })).toFloat32()]).toEqual([
    1.5, 3, -4.5,
  ]);
  f.release();
});

test('a condition chooses between two numbers', async () => {
  const f = compile(engine, ({ x }) => ops.where(ops.greater(x, 0), 1, -1), { x: [1, 2] });
  expect([...(await f({ x: row(3, -3) })).toFloat32()]).toEqual([1, -1]);
  f.release();
});

test('shapes are inferred without an engine', () => {
  const shapes = evalShape(({ x }) => softmax(slice(x, { axis: 1, size: 2 }), { axis: -1 }), {
    x: { shape: [3, 4], dtype: 'f16' },
  });
  expect(shapes).toEqual({ shape: [3, 2], dtype: 'f16' });
});

describe('errors name the mistake', () => {
  const specs = { x: [2, 3] } as const;
  test.each<readonly [string, (inputs: { readonly x: Variable }) => Variable, string]>([
    ['shapes that do not fit, from their line', ({ x }) => matmul(x, x), 'MatMul'],
    [
      'a value that an attribute does not have',
      ({ x }) => ops.gelu(x, { mode: 'tanh' as 'gelu_tanh' }),
      "'mode' must be one of",
    ],
    [
      'an operand that is none',
      ({ x }) => add(x, 'x' as unknown as number),
      'must be a variable of the traced function, a tensor or a number, got',
    ],
    [
      'an operand that is null',
      ({ x }) => add(null as unknown as number, x),
      'a tensor or a number, got null',
    ],
    ['a result that is none', () => 3 as unknown as Variable, 'must return variables'],
  ])('%s', (_, fn, message) => {
    expect(() => compile(engine, fn, specs)).toThrow(message);
  });

  test('an operation outside a function', () => {
    expect(() => constant(1)).toThrow('can only be called in a traced function');
  });

  test('a variable of another function', () => {
    let other: Variable | undefined;
    evalShape(({ x }) => (other = x), specs);
    expect(() => evalShape(({ x }) => add(x, other as Variable), specs)).toThrow('got one of another');
  });

  test('a loss of more than one number', () => {
    expect(() =>
      compile(
        engine,
        grad(({ x }: { readonly x: Variable }) => x),
        specs,
      ),
    ).toThrow('must be one number');
  });

  test('an input that is missing or not known', async () => {
    const f = compile(engine, ({ x }) => add(x, 1), specs);
    await expect(f({} as { x: Tensor })).rejects.toThrow("lacks 'x'");
    await expect(f({ x: row(1), y: row(1) } as { x: Tensor })).rejects.toThrow(
      "inputs has no 'y'; known names: x",
    );
    f.release();
  });
});

test('a function may return its arguments, and a variable twice, in every dtype that is copied', async () => {
  const dtypes = ['f32', 'f16', 'i32', 'u32', 'u8', 'bool'] as const;
  for (const dtype of dtypes) {
    const given = Tensor.from([0, 1], [2], { dtype });
    const same = compile(engine, ({ x }) => ({ a: x, b: [x, x] }), { x: { shape: [2], dtype } });
    const { a, b } = await same({ x: given });
    same.release();
    for (const copy of [a, ...b]) {
      expect([copy.dtype, [...copy.toFloat32()]]).toEqual([dtype, [0, 1]]);
      expect(copy.data.buffer).not.toBe(given.data.buffer);
    }
  }
});

test('a constant may be a view', async () => {
  const columns = Tensor.from([1, 2, 3, 4], [2, 2]).permute(1, 0);
  const f = compile(engine, ({ x }) => add(x, columns), { x: [2, 2] });
  expect([...(await f({ x: Tensor.zeros([2, 2]) })).toFloat32()]).toEqual([1, 3, 2, 4]);
  f.release();
});

test('the elements of constants are not copied for shapes alone', () => {
  const huge = Tensor.zeros([1, 1]).expand([2 ** 20, 2 ** 20]);
  expect(evalShape(({ x }) => matmul(x, huge), { x: [2, 2 ** 20] }).shape).toEqual([2, 2 ** 20]);
});

test('attention over constants has their dtype', () => {
  const half = Tensor.zeros([1, 1, 2, 4], { dtype: 'f16' });
  expect(evalShape(() => attention(half, half, half), {}).dtype).toBe('f16');
});

test('a called graph may list its operations in any order', async () => {
  const g = new Graph();
  const x = g.tensor({ dtype: 'f32', shape: [2] });
  const [a, b] = [0, 1].map(() => g.tensor({ dtype: 'f32' }));
  g.op('Neg', { inputs: [a], outputs: [b] });
  g.op('Square', { inputs: [x], outputs: [a] });
  g.finalize();
  const f = compile(engine, ({ v }) => callGraph(g, { [x.id]: v }).get(b.id) as Variable, { v: [2] });
  expect([...(await f({ v: Tensor.from([2, 3], [2]) })).toFloat32()]).toEqual([-4, -9]);
  f.release();
});
