import { dropoutMask } from '@tilewise/philox';
import { processorTime } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../errors.ts';
import { add, mul, select, sub } from '../expr/build.ts';
import { Tensor } from '../tensor/tensor.ts';
import { coordinate, hostPrimitives, input, inputAt, type Primitive, reduced } from './index.ts';

function run(primitive: Primitive, inputs: readonly Tensor[], ...outputs: readonly Tensor[]): number[][] {
  hostPrimitives.prepare(primitive, inputs, outputs).run(inputs, outputs);
  return outputs.map(t => [...t.toFloat64()]);
}

describe('map', () => {
  test('broadcasts its inputs and reads its coordinates', () => {
    const a = Tensor.from([1, 2, 3], [3]);
    const b = Tensor.from([10, 20], [2, 1]);
    const value = add(add(input(0), input(1)), mul(100, coordinate(0)));
    expect(run({ kind: 'map', value }, [a, b], Tensor.zeros([2, 3]))).toEqual([[11, 12, 13, 121, 122, 123]]);
  });

  test('reads an input at other indices, clamped to its edge', () => {
    const table = Tensor.from([1, 2, 3, 4, 5, 6], [3, 2]);
    const rows = Tensor.from([2, 0, 9], [3], { dtype: 'i32' });
    const value = inputAt(0, [inputAt(1, [coordinate(0)], 'i32'), coordinate(1)]);
    expect(run({ kind: 'map', value }, [table, rows], Tensor.zeros([3, 2]))).toEqual([[5, 6, 1, 2, 5, 6]]);
  });

  test('rounds to integers to nearest even, saturating, and does not write gaps of the output', () => {
    const a = Tensor.from([0.5, 1.5, -0.5, 300, -300, 2.5], [2, 3]);
    const data = new Int8Array(8).fill(7);
    const out = Tensor.wrap(data, { dtype: 'i8', shape: [2, 3], strides: [4, 1] });
    run({ kind: 'map', value: input(0) }, [a], out);
    expect([...data]).toEqual([0, 2, 0, 7, 127, -128, 2, 7]);
  });

  test('reads and writes strided 16-bit floats', () => {
    const a = Tensor.from([1, 2, 3, 4], [2, 2], { dtype: 'bf16' }).permute(1, 0);
    const out = Tensor.zeros([2, 2], { dtype: 'f16', strides: [1, 2] });
    expect(run({ kind: 'map', value: mul(input(0), 0.5) }, [a], out)).toEqual([[0.5, 1.5, 1, 2]]);
  });

  test('takes the branch that a condition chooses, even if the other branch is infinite', () => {
    const mask = Tensor.from([1, 0], [2], { dtype: 'bool' });
    const value = select(input(0, 'bool'), input(1), -Infinity);
    expect(run({ kind: 'map', value }, [mask, Tensor.from([3, 4], [2])], Tensor.zeros([2]))).toEqual([
      [3, -Infinity],
    ]);
  });

  test('of a scalar is a scalar, and of an empty tensor is empty', () => {
    expect(run({ kind: 'map', value: add(input(0), 1) }, [Tensor.from([2], [])], Tensor.zeros([]))).toEqual([
      [3],
    ]);
    expect(run({ kind: 'map', value: input(0) }, [Tensor.zeros([0, 3])], Tensor.zeros([0, 3]))).toEqual([[]]);
  });
});

describe('reduce', () => {
  const a = Tensor.from([1, 2, 3, 4, 5, 6], [2, 3]);
  const reduceOver = (axes: readonly number[], shape: readonly number[]) =>
    run(
      {
        kind: 'reduce',
        op: 'sum',
        axes,
        domain: [2, 3],
        element: mul(input(0), input(0)),
        result: mul(reduced, 10),
      },
      [a],
      Tensor.zeros(shape),
    )[0];

  test('over the last, the first and all dimensions', () => {
    expect(reduceOver([1], [2, 1])).toEqual([140, 770]);
    expect(reduceOver([0], [1, 3])).toEqual([170, 290, 450]);
    expect(reduceOver([0, 1], [1, 1])).toEqual([910]);
  });

  test('of a scalar gives the result of its one element', () => {
    const scalar = { ...({ kind: 'reduce', op: 'sum', axes: [], domain: [] } as const), element: input(0) };
    const twice = { ...scalar, result: mul(reduced, 2) };
    expect(run(twice, [Tensor.from([5], [])], Tensor.zeros([]))).toEqual([[10]]);
  });

  test.each([
    ['max', [3, 6]],
    ['min', [1, 4]],
    ['prod', [6, 120]],
  ] as const)('%s', (op, expected) => {
    const primitive = {
      kind: 'reduce',
      op,
      axes: [1],
      domain: [2, 3],
      element: input(0),
      result: reduced,
    } as const;
    expect(run(primitive, [a], Tensor.zeros([2, 1]))).toEqual([expected]);
  });

  test('an output of another shape is an error that names both', () => {
    const primitive = {
      kind: 'reduce',
      op: 'sum',
      axes: [1],
      domain: [2, 3],
      element: input(0),
      result: reduced,
    } as const;
    expect(() => hostPrimitives.prepare(primitive, [a], [Tensor.zeros([2])])).toThrow(/\[2,1\], got \[2\]/);
  });
});

describe('matmul', () => {
  test('multiplies strided operands and broadcasts the batch', () => {
    const a = Tensor.from(
      Array.from({ length: 30 }, (_, n) => n - 11),
      [2, 5, 3],
    ).permute(0, 2, 1);
    const b = Tensor.from(
      Array.from({ length: 35 }, (_, n) => (n * 7) % 13),
      [1, 5, 7],
    );
    const c = Tensor.zeros([2, 3, 7], { dtype: 'f16', strides: [40, 1, 3] });
    const expected: number[] = [];
    for (let n = 0; n < 2; n++) {
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j < 7; j++) {
          let sum = 0;
          for (let d = 0; d < 5; d++) sum += a.get(n, i, d) * b.get(0, d, j);
          expected.push(sum);
        }
      }
    }
    expect(run({ kind: 'matmul' }, [a, b], c)).toEqual([expected]);
  });

  test('adds products of any inner dimension before it applies an expression to the sum', () => {
    const ones = (shape: readonly number[], value: number) =>
      Tensor.from(
        Array.from({ length: shape[0] * shape[1] }, () => value),
        shape,
      );
    const operands = [ones([2, 3], 1), ones([3, 2], 10), ones([2, 5], 2), ones([5, 2], 100)];
    const c = Tensor.zeros([2, 2]);
    expect(run({ kind: 'matmul', terms: 2 }, operands, c)).toEqual([[1030, 1030, 1030, 1030]]);
    const bias = Tensor.from([1, 2], [2]);
    const result = add(input(4), mul(input(5), 2));
    expect(run({ kind: 'matmul', terms: 2, result }, [...operands, bias], c)).toEqual([
      [2061, 2062, 2061, 2062],
    ]);
    const wrong = [...operands.slice(0, 3), ones([4, 2], 1)];
    expect(() => hostPrimitives.prepare({ kind: 'matmul', terms: 2 }, wrong, [c])).toThrow(/B must have 5/);
    expect(() => hostPrimitives.prepare({ kind: 'matmul', terms: 2 }, operands.slice(0, 2), [c])).toThrow(
      /inputs must have length 4/,
    );
  });

  test('dimensions that do not fit are an error', () => {
    expect(() =>
      hostPrimitives.prepare(
        { kind: 'matmul' },
        [Tensor.zeros([2, 3]), Tensor.zeros([2, 3])],
        [Tensor.zeros([2, 3])],
      ),
    ).toThrow(/B must have 3 rows/);
  });
});

describe('softmax', () => {
  const row = Tensor.from([0, Math.LN2, -Infinity, -Infinity, -Infinity, -Infinity], [2, 3]);

  test('with its stats; a row of −∞ gives 0 on request, otherwise NaN', () => {
    const softmax = { kind: 'softmax', axis: 1, log: false } as const;
    const results = run(
      { ...softmax, mode: 'inf-as-zero' },
      [row],
      Tensor.zeros([2, 3]),
      Tensor.zeros([2, 1]),
    );
    expect(results[0].map(x => Math.round(x * 1e6) / 1e6)).toEqual([0.333333, 0.666667, 0, 0, 0, 0]);
    expect(results[1]).toEqual([Math.fround(Math.log(3)), 0]);
    expect(run({ ...softmax, mode: 'none' }, [row], Tensor.zeros([2, 3]))[0].slice(3)).toEqual([
      NaN,
      NaN,
      NaN,
    ]);
  });

  test('its logarithm, along another axis than the last', () => {
    const a = Tensor.from([1, 2, 1, 2], [2, 2]);
    const result = run({ kind: 'softmax', axis: 0, log: true, mode: 'none' }, [a], Tensor.zeros([2, 2]))[0];
    expect(result).toEqual(new Array(4).fill(Math.fround(-Math.LN2)));
  });
});

test('random draws equal those of oneDNN’s dropout', () => {
  const words = (low: number) => Tensor.from([low, 0], [2], { dtype: 'u32' });
  const out = Tensor.zeros([1, 2, 5, 7], { dtype: 'u8' });
  run({ kind: 'random', distribution: 'bernoulli' }, [words(123456), words(1), Tensor.from([0.25], [])], out);
  const expected = dropoutMask({ shape: [1, 2, 5, 7], p: 0.25, seed: 123456, offset: 1, scheme: 'onednn' });
  expect([...out.toFloat32()]).toEqual([...expected]);
  // The first words of (seed 123456, offset 1) are 7a912bbe 0c123e77 805f2ad1 ed0e542c.
  const uniform = run(
    { kind: 'random', distribution: 'uniform' },
    [words(123456), words(1)],
    Tensor.zeros([2]),
  )[0];
  expect(uniform.map(x => Math.floor(x * 256))).toEqual([0x7a, 0x0c]);
});

test('expressions read the result of a reduction unrounded, whatever dtype it is stored in', () => {
  const sum = { op: 'sum', element: input(0), result: reduced } as const;
  const primitive: Primitive = {
    ...{ kind: 'rows', domain: [1, 2], axes: [1] },
    ...{ reductions: [sum], outputs: [0, sub(input(0), input(1))] },
  };
  // The sum, 257, is 256 in bf16.
  const outputs = [Tensor.zeros([1, 1], { dtype: 'bf16' }), Tensor.zeros([1, 2])];
  const x = Tensor.from([256, 1], [1, 2]);
  hostPrimitives.prepare(primitive, [x], outputs).run([x], outputs);
  expect(outputs.map(output => [...output.toFloat32()])).toEqual([[256], [-1, -256]]);
});

test('scatter-add sums the rows of equal indices and skips indices outside', () => {
  const indices = Tensor.from([1, 1, 5, 0], [4], { dtype: 'i32' });
  const updates = Tensor.from([1, 2, 3, 4, 5, 6, 7, 8], [4, 2]);
  expect(run({ kind: 'scatter-add' }, [indices, updates], Tensor.zeros([3, 2]))).toEqual([
    [7, 8, 4, 6, 0, 0],
  ]);
});

test('billions of rows without elements take no time', () => {
  const rows = (): Tensor => Tensor.zeros([2 ** 31, 0]);
  const started = processorTime();
  const indices = Tensor.from([1], [1], { dtype: 'i32' });
  expect(run({ kind: 'scatter-add' }, [indices, Tensor.zeros([1, 0])], rows())).toEqual([[]]);
  expect(run({ kind: 'softmax', axis: 1, log: false, mode: 'none' }, [rows()], rows())).toEqual([[]]);
  expect(processorTime() - started).toBeLessThan(500);
});

test('tensor-scatter writes an update from a position of each entry, and skips elements outside', () => {
  const update = Tensor.from([1, 2, 3, 4], [2, 2]);
  const past = () => Tensor.from([9, 9, 9, 9, 9, 9], [2, 3]);
  const at = (...first: number[]) => Tensor.from(first, [2], { dtype: 'i32' });
  const primitive = { kind: 'tensor-scatter', axis: 1 } as const;
  expect(run(primitive, [update, at(1, 0)], past())).toEqual([[9, 1, 2, 3, 4, 9]]);
  expect(run(primitive, [update, at(2, -1)], past())).toEqual([[9, 9, 1, 4, 9, 9]]);
  const rows = Tensor.from([1, 2, 3, 4], [1, 2, 2]);
  const second = Tensor.from([1], [1], { dtype: 'i32' });
  expect(run(primitive, [rows, second], Tensor.zeros([1, 3, 2]))).toEqual([[0, 0, 1, 2, 3, 4]]);
});

test.each([{ kind: 'mapp' }, {}])('refuses an unknown primitive (%o)', primitive => {
  const prepare = () => hostPrimitives.prepare(primitive as never, [], []);
  expect(prepare).toThrow(InvalidArgumentError);
  expect(prepare).toThrow(/^primitive.kind must be one of map, reduce, rows, /);
});

describe('tensors that are too small for a primitive are refused', () => {
  const t = (...shape: number[]): Tensor => Tensor.zeros(shape);
  const words = Tensor.zeros([2], { dtype: 'u32' });
  const row = { axes: [1], domain: [2, 3] } as const;
  const sum = { op: 'sum', element: input(1), result: reduced } as const;
  const random = { kind: 'random', distribution: 'bernoulli' } as const;
  test.each<[string, Primitive, Tensor[], Tensor[], string]>([
    ['a short row', { kind: 'map', value: input(0) }, [t(3)], [t(2, 4)], 'inputs[0]'],
    ['too many dimensions', { kind: 'map', value: input(0) }, [t(1, 4)], [t(4)], 'inputs[0]'],
    ['another element', { kind: 'reduce', ...row, ...sum }, [t(2, 3), t(2)], [t(2, 1)], 'inputs[1]'],
    ['rows', { kind: 'rows', ...row, reductions: [sum], outputs: [0] }, [t(3), t(2)], [t(2, 1)], 'inputs[1]'],
    ['maps', { kind: 'rows', ...row, reductions: [], outputs: [input(0)] }, [t(2)], [t(2, 3)], 'inputs[0]'],
    ['a batch', { kind: 'matmul' }, [t(2, 4, 5), t(3, 5, 6)], [t(2, 4, 6)], 'B'],
    [
      'a bias of a product',
      { kind: 'matmul', result: add(input(2), input(3)) },
      [t(4, 5), t(5, 6), t(4)],
      [t(4, 6)],
      'inputs[2]',
    ],
    ['an axis', { kind: 'softmax', axis: -1, log: false, mode: 'none' }, [t(4)], [t(4)], 'axis'],
    ['no probability', random, [words, words], [t(4)], 'inputs'],
  ])('%s', (_, primitive, inputs, outputs, argument) => {
    expect(() => hostPrimitives.prepare(primitive, inputs, outputs)).toThrow(
      expect.objectContaining({ argument }),
    );
  });

  test('but an input that is read elsewhere, by its own indices, may have any shape', () => {
    const [x, y] = [Tensor.from([1, 2, 3], [3]), t(2, 2)];
    hostPrimitives.prepare({ kind: 'map', value: inputAt(0, [coordinate(1)]) }, [x], [y]).run([x], [y]);
    expect([...y.toFloat32()]).toEqual([1, 2, 1, 2]);
  });
});
