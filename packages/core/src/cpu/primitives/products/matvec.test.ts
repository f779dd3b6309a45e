import { describe, expect, test } from 'vitest';
import { hostPrimitives } from '../../../primitive/host/host-primitives.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { variants } from '../../kernels/variant.ts';
import { cpuPrimitives } from '../cpu-primitives.ts';

/** Pseudo-random numbers in [−1, 1). */
function numbers(shape: readonly number[], seed: number, dtype: Tensor['dtype'] = 'f32'): Tensor {
  const count = shape.reduce((product, extent) => product * extent, 1);
  const value = (n: number) => ((n * 2654435761 + seed * 40503) % 4294967296) / 2147483648 - 1;
  return Tensor.from(
    Array.from({ length: count }, (_, n) => value(n)),
    shape,
    { dtype },
  );
}

/** The largest deviation from the product in f64, in units of K·2⁻²⁴ and of the rounding of C. */
function errorOf(variant: (typeof variants)[number], a: Tensor, b: Tensor, c: Tensor): number {
  const exact = Tensor.zeros(c.shape);
  hostPrimitives.prepare({ kind: 'matmul' }, [a, b], [exact]).run([a, b], [exact]);
  const { run } = cpuPrimitives(variant).prepare({ kind: 'matmul' }, [a, b], [c]);
  run([a, b], [c]);
  const K = b.shape[0];
  const unit = K * 2 ** -24 * 2 + (c.dtype === 'f32' ? 0 : 2 ** -8);
  const wanted = exact.toFloat64();
  return Math.max(
    ...Array.from(c.toFloat64(), (x, n) => Math.abs(x - wanted[n]) / (unit * (1 + Math.abs(wanted[n])))),
  );
}

describe.each(variants)('few rows on %s', variant => {
  test.each([
    [1, 64, 128],
    [1, 67, 33],
    [3, 7, 5],
    [8, 130, 70],
    [1, 3, 1000],
    [2, 20000, 9],
  ])('%i rows of %i by %i columns, of every storage, transposed or not', (m, k, n) => {
    for (const dtype of ['f32', 'f16', 'bf16'] as const) {
      const a = numbers([m, k], 1);
      expect(errorOf(variant, a, numbers([k, n], 2, dtype), Tensor.zeros([m, n]))).toBeLessThan(1);
      const transposed = numbers([n, k], 3, dtype).permute(1, 0);
      expect(errorOf(variant, a, transposed, Tensor.zeros([m, n]))).toBeLessThan(1);
    }
  });

  test('rows of a batch, gaps between lines, and rounded results', () => {
    const a = numbers([2, 3, 24], 1, 'bf16');
    const lines = Tensor.wrap(numbers([900], 2).data, {
      dtype: 'f32',
      shape: [20, 24],
      strides: [30, 1],
      offset: 3,
    });
    expect(errorOf(variant, a, lines.permute(1, 0), Tensor.zeros([2, 3, 20], { dtype: 'f16' }))).toBeLessThan(
      1,
    );
    const rows = Tensor.wrap(numbers([900], 2).data, {
      dtype: 'f32',
      shape: [24, 20],
      strides: [30, 1],
      offset: 3,
    });
    expect(errorOf(variant, a, rows, Tensor.zeros([2, 3, 20]))).toBeLessThan(1);
  });

  test('a matrix in the memory of the kernels, with gaps between lines', () => {
    const { allocate, view } = cpuPrimitives(variant);
    const stored = allocate({ dtype: 'bf16', shape: [20, 30] });
    stored.data.set(numbers([20, 30], 4, 'bf16').data);
    const b = view(stored, { shape: [24, 20], strides: [1, 30], offset: 3 });
    expect(errorOf(variant, numbers([2, 24], 1), b, Tensor.zeros([2, 20]))).toBeLessThan(1);
  });

  test.each([true, false])(
    'numbers of f16 that are infinite, NaN or subnormal, transposed: %s',
    isTransposed => {
      const lines = [
        [Infinity, 3],
        [-Infinity, 20],
        [NaN, 39],
        [2 ** -24, 0],
        [-(2 ** -24), 17],
        [65504, 31],
      ];
      const values = lines.flatMap(([x, at]) => Array.from({ length: 40 }, (_, n) => (n === at ? x : 0)));
      const stored = Tensor.from(values, [6, 40], { dtype: 'f16' });
      const columns = stored.permute(1, 0);
      const b = isTransposed ? columns : Tensor.from(columns.toFloat32(), [40, 6], { dtype: 'f16' });
      const a = Tensor.from(new Array(40).fill(1), [1, 40]);
      const c = Tensor.zeros([1, 6]);
      cpuPrimitives(variant).prepare({ kind: 'matmul' }, [a, b], [c]).run([a, b], [c]);
      expect([...c.toFloat32()]).toEqual([Infinity, -Infinity, NaN, 2 ** -24, -(2 ** -24), 65504]);
    },
  );

  test('infinities and NaN in 16 bits are preserved', () => {
    const b = Tensor.from([Infinity, -Infinity, NaN, 2], [4, 1], { dtype: 'f16' }).permute(1, 0);
    const c = Tensor.zeros([1, 4]);
    cpuPrimitives(variant)
      .prepare({ kind: 'matmul' }, [Tensor.from([3], [1, 1]), b], [c])
      .run([Tensor.from([3], [1, 1]), b], [c]);
    expect([...c.toFloat32()]).toEqual([Infinity, -Infinity, NaN, 6]);
  });
});
