import { describe, expect, test } from 'vitest';
import { normal } from '../../../../testing/normal.ts';
import { hostPrimitives } from '../../../primitive/host/host-primitives.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { createEngineKernels } from '../../kernels/engine-kernels.ts';
import { supportedVariants } from '../../kernels/host-kernels.ts';
import { taskKinds } from '../../team/tasks.ts';
import { cpuPrimitives } from '../cpu-primitives.ts';
import { matrixBatch } from './matrix-batch.ts';
import { prepareSplitK } from './split-k.ts';

const prepare = (a: Tensor, b: Tensor, c: Tensor) => prepareSplitK(matrixBatch([a, b], c), c);

test('long sums are split if their parts are of one length and at least half as long as rows and columns', () => {
  const isSplit = (m: number, n: number, k: number, ...batch: number[]): boolean => {
    const [a, b] = [Tensor.zeros([...batch, m, k]), Tensor.zeros([...batch, k, n])];
    return prepare(a, b, Tensor.zeros([...batch, m, n])) !== null;
  };
  expect([isSplit(32, 128, 768), isSplit(32, 128, 766), isSplit(32, 128, 508)]).toEqual([true, false, false]);
  expect([isSplit(256, 512, 1024), isSplit(256, 514, 1024)]).toEqual([true, false]);
  expect([isSplit(32, 128, 768, 1), isSplit(32, 128, 768, 2)]).toEqual([true, false]);
});

describe.each(supportedVariants())('%s', variant => {
  test.each([
    ['f32', 0],
    ['f16', 2 ** -11],
    ['bf16', 2 ** -8],
  ] as const)('operands and results in %s, transposed or not', (dtype, rounding) => {
    const [m, n, k] = [19, 33, 516];
    const primitives = cpuPrimitives(variant);
    const lefts = [normal([m, k], 1, dtype), normal([k, m], 2, dtype).permute(1, 0)];
    const rights = [normal([k, n], 3, dtype), normal([n, k], 4, dtype).permute(1, 0)];
    for (const a of lefts) {
      for (const b of rights) {
        const results = [
          Tensor.zeros([m, n], { dtype }),
          Tensor.zeros([m, n], { dtype, strides: [50, 1] }),
          Tensor.zeros([n, m], { dtype }).permute(1, 0),
        ];
        const exact = Tensor.zeros([m, n]);
        hostPrimitives.prepare({ kind: 'matmul' }, [a, b], [exact]).run([a, b], [exact]);
        const wanted = exact.toFloat64();
        for (const c of results) {
          expect(prepare(a, b, c)).not.toBeNull();
          primitives.prepare({ kind: 'matmul' }, [a, b], [c]).run([a, b], [c]);
          // Rounded sums of f32 products, and one rounding to the dtype.
          const unit = k * 2 ** -24 + rounding;
          const errors = Array.from(
            c.toFloat64(),
            (x, n) => Math.abs(x - wanted[n]) / (1 + Math.abs(wanted[n])),
          );
          expect(Math.max(...errors) / unit).toBeLessThan(2);
        }
      }
    }
  });
});

test('two threads read different rows of the operands of a gradient of weights', () => {
  const kernels = createEngineKernels('wasm-simd');
  const [tokens, inputs, outputs] = [768, 32, 128];
  const place = (shape: readonly number[]): Tensor => {
    const { values } = kernels.memory.scratch(shape[0] * shape[1]);
    return Tensor.wrap(values, { dtype: 'f32', shape });
  };
  const [x, dY, dW] = [place([tokens, inputs]), place([tokens, outputs]), place([inputs, outputs])];
  const [product] = prepare(x.permute(1, 0), dY, dW)?.steps?.(kernels, [x.permute(1, 0), dY], [dW]) ?? [];
  const tasks = product.tasks(2, words => kernels.memory.scratch(words).at) ?? [];
  const rowOf = (address: number, tensor: Tensor): number =>
    (address - kernels.memory.addressOf(tensor.data)) / (4 * tensor.shape[1]);
  expect(tasks.map(([kind]) => kind)).toEqual(new Array(4).fill(taskKinds.product));
  expect(tasks.map(task => rowOf(task[4], x))).toEqual([0, 192, 384, 576]);
  expect(tasks.map(task => rowOf(task[7], dY))).toEqual([0, 192, 384, 576]);
});
