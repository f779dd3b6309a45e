import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normal } from '../../../testing/normal.ts';
import {
  abs,
  add,
  and,
  div,
  erf,
  exp,
  gt,
  le,
  log,
  mul,
  neg,
  not,
  select,
  tanh,
  toF32,
} from '../../expr/index.ts';
import type { NumericExpr } from '../../expr/nodes/expr.ts';
import { coordinate, hostPrimitives, input, type Primitive, reduced } from '../../primitive/index.ts';
import type { DType } from '../../tensor/dtype/dtype.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { supportedVariants } from '../kernels/host-kernels.ts';
import { cpuPrimitives } from './cpu-primitives.ts';

function run(
  primitives: typeof hostPrimitives,
  primitive: Primitive,
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
) {
  primitives.prepare(primitive, inputs, outputs).run(inputs, outputs);
  return outputs.map(t => t.toFloat64());
}

describe.each(supportedVariants())('%s', variant => {
  const primitives = cpuPrimitives(variant);

  /** The results of the host, in f64, and of the kernels. */
  function both(primitive: Primitive, inputs: readonly Tensor[], output: () => readonly Tensor[]) {
    return [run(hostPrimitives, primitive, inputs, output()), run(primitives, primitive, inputs, output())];
  }

  function expectSame(
    primitive: Primitive,
    inputs: readonly Tensor[],
    output: () => readonly Tensor[],
    tolerance: number,
  ) {
    const [want, got] = both(primitive, inputs, output);
    const isWrong = (y: number, x: number) =>
      !Object.is(y, x) && !(Math.abs(y - x) < tolerance * Math.max(1, Math.abs(x)));
    want.forEach((values, n) => {
      const at = values.findIndex((x, place) => isWrong(got[n][place], x));
      expect(at < 0 ? '' : `output ${n} at ${at}: ${got[n][at]} instead of ${values[at]}`).toBe('');
    });
  }

  /** Expects a result of k products and sums, each rounded to f32. */
  function expectProduct([a, b]: readonly Tensor[], output: () => readonly Tensor[]) {
    const magnitude = (t: Tensor) => Tensor.from(t.toFloat32().map(Math.abs), t.shape);
    const [[want], [got]] = both({ kind: 'matmul' }, [a, b], output);
    const [bound] = run(hostPrimitives, { kind: 'matmul' }, [magnitude(a), magnitude(b)], output());
    const k = a.shape.at(-1) ?? 0;
    const at = got.findIndex((x, n) => !(Math.abs(x - want[n]) <= (k + 2) * 2 ** -24 * bound[n]));
    expect(at < 0 ? '' : `at ${at}: ${got[at]} instead of ${want[at]}`).toBe('');
  }

  const extent = fc.constantFrom(0, 1, 2, 3, 5, 8, 33, 65, 140);
  test('a matrix whose rows share one row of memory', () => {
    const [row, b] = [normal([5], 1), normal([3, 5, 8], 2)];
    for (const m of [1, 4, 20]) {
      const a = primitives.view(row, { shape: [m, 5], strides: [0, 1] });
      const rows = Tensor.from(Array.from({ length: m }, () => [...row.toFloat32()]).flat(), [m, 5]);
      const output = () => [Tensor.zeros([3, m, 8])];
      const [want] = run(primitives, { kind: 'matmul' }, [rows, b], output());
      expect(run(primitives, { kind: 'matmul' }, [a, b], output())[0]).toEqual(want);
    }
  });

  test('a product in place writes only its results', () => {
    for (const [m, n, k] of [
      [5, 7, 3],
      [6, 300, 150],
      [130, 26, 260],
    ]) {
      const [a, b] = [normal([m, k], 1), normal([k, n], 2)].map(tensor => {
        const own = primitives.allocate(tensor);
        own.data.set(tensor.data);
        return own;
      });
      // Rows with gaps between them, and a gap behind the last one.
      const all = primitives.allocate({ dtype: 'f32', shape: [m + 4, n + 8] });
      all.data.fill(Number.NaN);
      const c = primitives.view(all, { shape: [m, n], strides: [n + 8, 1] });
      primitives.prepare({ kind: 'matmul' }, [a, b], [c]).run([a, b], [c]);
      expectProduct([a, b], () => [Tensor.zeros([m, n])]);
      const [want] = run(primitives, { kind: 'matmul' }, [a, b], [Tensor.zeros([m, n])]);
      const isResult = (place: number): boolean => place < m * (n + 8) && place % (n + 8) < n;
      expect([...c.toFloat32()]).toEqual([...want]);
      expect(all.data.findIndex((x, place) => Number.isNaN(Number(x)) === isResult(place))).toBe(-1);
    }
  });

  test('matrix products of any size, layout and dtype', () => {
    fc.assert(
      fc.property(
        // With many columns, rows of A are packed too.
        fc.tuple(extent, fc.oneof(extent, fc.constant(260)), extent),
        fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
        fc.constantFrom<DType>('f32', 'f16', 'bf16'),
        fc.constantFrom([], [2], [1, 2]),
        ([m, n, k], [transposeA, transposeB, gaps], dtype, batch) => {
          const swap = (t: Tensor) => t.permute(...batch.map((_, d) => d), batch.length + 1, batch.length);
          const a = transposeA
            ? swap(normal([...batch, k, m], 1, dtype))
            : normal([...batch, m, k], 1, dtype);
          const b = transposeB
            ? swap(normal([...batch, n, k], 2, dtype))
            : normal([...batch, k, n], 2, dtype);
          const strides = [...batch.map(() => 2 * m * n + 1), 1, 2 * m];
          const output = () => [Tensor.zeros([...batch, m, n], gaps && batch.length < 2 ? { strides } : {})];
          expectProduct([a, b], output);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('short lines, more than are computed at once, from inputs of every layout, to an output with gaps', () => {
    const [rows, width] = [150, 30];
    const inputs = [
      normal([rows, width], 1),
      normal([rows, 1], 2, 'f16'),
      normal([width, rows], 3, 'bf16').permute(1, 0),
      normal([1, 1], 4),
      Tensor.from(
        Array.from({ length: rows * width }, (_, n) => n % 3),
        [rows, width],
        { dtype: 'bool' },
      ),
      normal([width], 5, 'f16'),
    ];
    const sum = [1, 2, 3, 5].reduce((value, n) => add(value, input(n)), input(0));
    const element = select(input(4, 'bool'), sum, neg(input(0)));
    const gaps = () => [Tensor.zeros([rows, width], { strides: [2 * width + 1, 2] })];
    expectSame({ kind: 'map', value: element }, inputs, gaps, 1e-6);
    expectSame({ kind: 'map', value: element }, inputs, () => [Tensor.zeros([rows, width])], 1e-6);
    for (const op of ['sum', 'max'] as const) {
      const reduction: Primitive = {
        kind: 'reduce',
        op,
        axes: [1],
        domain: [rows, width],
        element,
        result: reduced,
      };
      expectSame(reduction, inputs, () => [Tensor.zeros([rows, 1], { strides: [3, 1] })], 1e-5);
    }
  });

  test('a product with one B for many A, more columns than are held at once, and a rounded result', () => {
    const output = () => [Tensor.zeros([3, 2, 70], { dtype: 'bf16' })];
    expectSame({ kind: 'matmul' }, [normal([3, 2, 5], 1), normal([5, 70], 2)], output, 2 ** -8);
    const [wide, long] = [normal([70, 40_000], 2).permute(1, 0), normal([1, 40_000], 1)];
    expectProduct([long, wide], () => [Tensor.zeros([1, 70])]);
  });

  test('scatter-add of updates and indices of every layout and dtype, with indices outside', () => {
    const layout = fc.constantFrom<'rows' | 'columns' | 'gaps'>('rows', 'columns', 'gaps');
    const float = fc.constantFrom<DType>('f32', 'f16', 'bf16');
    const stridesOf = (of: 'rows' | 'columns' | 'gaps', n: number, d: number): readonly number[] =>
      ({ rows: [d, 1], columns: [1, n], gaps: [2 * d + 1, 2] })[of];
    fc.assert(
      fc.property(
        ...[
          fc.integer({ min: 1, max: 40 }),
          fc.integer({ min: 0, max: 90 }),
          fc.constantFrom(1, 3, 4, 21, 64),
        ],
        ...[fc.constantFrom<DType>('i32', 'u8', 'i8', 'u32'), layout, layout, float, float, fc.nat()],
        (rows, count, width, indexDtype, from, to, dtype, outDtype, seed) => {
          const least = indexDtype.startsWith('i') ? -2 : 0;
          const at = Array.from({ length: 2 * count }, (_, n) => ((n * 7919 + seed) % (rows + 4)) + least);
          const indices = Tensor.from(at, [count, 2], { dtype: indexDtype });
          const every = Tensor.wrap(indices.data, { shape: [count], strides: [2], dtype: indexDtype });
          const updates = Tensor.from(normal([count, width], seed % 1000).toFloat32(), [count, width], {
            ...{ dtype, strides: stridesOf(from, count, width) },
          });
          const output = () => [
            Tensor.zeros([rows, width], { dtype: outDtype, strides: stridesOf(to, rows, width) }),
          ];
          // Sums are the same f64; a result is rounded to f32 before it is rounded to 16 bits.
          const tolerance = outDtype === 'f32' ? 0 : outDtype === 'f16' ? 2 ** -10 : 2 ** -7;
          expectSame({ kind: 'scatter-add' }, [every, updates], output, tolerance);
        },
      ),
      { numRuns: 200 },
    );
  });

  const unary: readonly [string, (x: NumericExpr) => NumericExpr, (x: number) => number][] = [
    ['exp', exp, x => 2.2e-7 + 1.5e-7 * Math.abs(x)],
    ['tanh', tanh, () => 3.5e-7],
    ['erf', erf, () => 4.1e-7],
    ['neg', neg, () => 0],
    ['abs', abs, () => 0],
    ['log', x => log(abs(x)), () => 1.2e-7],
  ];
  test.each(unary)('%s of small and large numbers', (_name, f, relative) => {
    const special = [
      0, -0, 1e-30, -1e-6, 0.2499, 0.25, 0.4999, 0.5, -1, 3, -20, 79.9, 80.1, 88.7, 89, -86, -200, 1e30,
    ];
    const values = [...special, Infinity, -Infinity, NaN, ...normal([3000], 3).toFloat32()];
    const x = Tensor.from(values, [values.length]);
    const primitive = { kind: 'map', value: f(input(0)) } as const;
    const [[want], [got]] = both(primitive, [x], () => [Tensor.zeros(x.shape)]);
    got.forEach((y, n) => {
      const ok =
        Object.is(y, want[n]) || Math.abs(y - want[n]) <= relative(values[n]) * Math.abs(want[n]) + 1.2e-38;
      expect(ok, `of ${values[n]}: ${y} instead of ${want[n]}`).toBe(true);
    });
  });

  const x = input(0);
  const gelu = mul(mul(0.5, x), add(1, tanh(mul(0.79788, add(x, mul(0.044715, mul(x, mul(x, x))))))));
  test('expressions over broadcast, strided and rounded inputs', () => {
    const value = add(gelu, select(and(gt(input(1), 0), not(input(2, 'bool'))), input(1), div(input(1), 3)));
    const mask = Tensor.from([1, 0, 1], [3, 1], { dtype: 'bool' });
    for (const shape of [
      [2, 3, 700],
      [3, 1500],
      [5, 3, 1],
    ]) {
      const a = normal(shape, 1, 'bf16');
      const b = normal([shape.at(-1) ?? 1, 3], 2, 'f16').permute(1, 0);
      expectSame({ kind: 'map', value }, [a, b, mask], () => [Tensor.zeros(shape)], 1e-6);
    }
  });

  test('conditions that become numbers, in place', () => {
    const a = normal([40], 1);
    run(primitives, { kind: 'map', value: toF32(le(x, 0)) }, [a], [a]);
    expect([...a.toFloat32()]).toEqual([...normal([40], 1).toFloat32()].map(y => Number(y <= 0)));
  });

  test('expressions of integers', () => {
    const value = mul(toF32(coordinate(0)), 3);
    expect([...run(primitives, { kind: 'map', value }, [], [Tensor.zeros([4])])[0]]).toEqual([0, 3, 6, 9]);
  });

  const reductions = (['sum', 'max', 'min', 'prod'] as const).flatMap(op =>
    [[0], [1], [2], [0, 2], [0, 1], [1, 2], [0, 1, 2]].map(axes => ({ op, axes })),
  );
  test.each(reductions)('$op over $axes', ({ op, axes }) => {
    for (const domain of [
      [3, 4, 1100],
      [2, 1, 5],
      [3, 0, 2],
    ]) {
      const inputs = [normal([domain[0], domain[2], domain[1]], 1).permute(0, 2, 1), normal([domain[2]], 2)];
      const shape = domain.map((n, d) => (axes.includes(d) ? 1 : n));
      const primitive = {
        kind: 'reduce',
        op,
        axes,
        domain,
        element: mul(x, input(1)),
        result: mul(reduced, 2),
      } as const;
      expectSame(primitive, inputs, () => [Tensor.zeros(shape)], 1e-5);
    }
  });

  test.each([0, 1, 2])('softmax and its logarithm along axis %i', axis => {
    const source = normal([3, 40, 9], 1).permute(1, 0, 2);
    const shape = source.shape;
    const stats = shape.map((n, d) => (d === axis ? 1 : n));
    const output = () => [Tensor.zeros(shape), Tensor.zeros(stats)];
    for (const isLog of [false, true])
      expectSame({ kind: 'softmax', axis, log: isLog, mode: 'none' }, [source], output, 1e-6);
  });

  test('rows of −∞ give NaN or 0, as requested; NaN and infinities stay in their rows', () => {
    const rows = [
      [-Infinity, -Infinity, -Infinity],
      [1, NaN, 2],
      [Infinity, 1, 2],
      [0, -Infinity, 0],
    ];
    const source = Tensor.from(rows.flat(), [4, 3]);
    const output = () => [Tensor.zeros([4, 3]), Tensor.zeros([4, 1])];
    for (const mode of ['none', 'inf-as-zero'] as const) {
      for (const isLog of [false, true])
        expectSame({ kind: 'softmax', axis: 1, log: isLog, mode }, [source], output, 1e-6);
    }
  });
});
