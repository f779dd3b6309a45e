import { expect, test } from 'vitest';
import { normal } from '../../../../testing/normal.ts';
import type { DType } from '../../../tensor/dtype/dtype.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { cpuEngine } from '../../index.ts';

/** An operand: its storage, and how the product views it. */
interface Operand {
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly view: (whole: Tensor) => Pick<Tensor, 'shape' | 'strides'> & { readonly offset?: number };
}

const lines = (rows: number, columns: number, dtype: DType = 'f32'): Operand => ({
  ...{ shape: [rows, columns], dtype },
  view: ({ shape, strides }) => ({ shape, strides }),
});
const transposed = (rows: number, columns: number, dtype: DType = 'f32'): Operand => ({
  ...{ shape: [columns, rows], dtype },
  view: () => ({ shape: [rows, columns], strides: [1, rows] }),
});
const withGaps = (rows: number, columns: number, dtype: DType = 'f32'): Operand => ({
  ...{ shape: [rows, columns + 5], dtype },
  view: () => ({ shape: [rows, columns], strides: [columns + 5, 1], offset: 2 }),
});
const repeated = (rows: number, columns: number, dtype: DType = 'f32'): Operand => ({
  ...{ shape: [columns], dtype },
  view: () => ({ shape: [rows, columns], strides: [0, 1] }),
});

const products: Readonly<Record<string, readonly [a: Operand, b: Operand, c: Operand]>> = {
  'a row and transposed f32': [lines(1, 576), transposed(576, 1500), lines(1, 1500)],
  'a row and f32': [lines(1, 300), lines(300, 1027), lines(1, 1027)],
  'a row and transposed bf16': [lines(1, 130), transposed(130, 3000, 'bf16'), lines(1, 3000)],
  'rows and f16': [lines(3, 67), lines(67, 2049, 'f16'), lines(3, 2049)],
  'rows and transposed f16, rounded to bf16': [
    lines(8, 64),
    transposed(64, 1030, 'f16'),
    lines(8, 1030, 'bf16'),
  ],
  'columns of A, as for the gradient of an adapter': [transposed(4, 256), lines(256, 576), lines(4, 576)],
  'a row for all results': [repeated(5, 48), transposed(48, 2000), withGaps(5, 2000)],
  'rows in 16 bits, with gaps, and transposed results': [
    withGaps(2, 99, 'f16'),
    withGaps(99, 700),
    transposed(2, 700, 'f16'),
  ],
  'rows and bf16, in parts of their sums, with gaps': [
    lines(3, 201),
    withGaps(201, 700, 'bf16'),
    withGaps(3, 700),
  ],
  'one result': [lines(1, 7), lines(7, 1), lines(1, 1)],
};

test.each(Object.entries(products))(
  '%s: the same bits bound or not, on 1, 2, 3 and 6 threads, in the memory of the engine or outside',
  async (_, operands) => {
    let expected: Tensor['data'] | undefined;
    for (const threads of [1, 2, 3, 6]) {
      const { allocate, prepare, view } = cpuEngine({ threads }).primitives;
      const placed = operands.map(({ shape, dtype, view: viewOf }, n) => {
        const whole = allocate({ dtype, shape });
        whole.data.set(normal(shape, n + 1).cast(dtype).data);
        return { whole, tensor: view(whole, viewOf(whole)) };
      });
      const [a, b, c] = placed.map(({ tensor }) => tensor);
      const { whole } = placed[2];
      const before = whole.data.slice();
      const { dtype, shape, strides, offset } = c;
      const outside = Tensor.wrap(before.slice(), { dtype, shape, strides, offset });
      const prepared = prepare({ kind: 'matmul' }, [a, b], [c]);
      const work = prepared.bind?.([a, b], [c]);
      expect(work).not.toBeNull();
      for (let round = 0; round < 3; round++) {
        for (const run of [prepared.run, () => work?.run()]) {
          whole.data.set(before);
          run([a, b], [c]);
          expected ??= whole.data.slice();
          expect(whole.data.slice()).toEqual(expected);
        }
        outside.data.set(before);
        prepared.run([a, b], [outside]);
        expect(outside.data).toEqual(expected);
        // In the meantime workers start, and join their region.
        await new Promise(resolve => setTimeout(resolve, round * 10));
      }
      work?.release();
      expect(expected).not.toEqual(before);
    }
  },
);
