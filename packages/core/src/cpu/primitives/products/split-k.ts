import { add } from '../../../expr/index.ts';
import { input, inputName } from '../../../primitive/element.ts';
import type { TensorDesc } from '../../../tensor/tensor.ts';
import { linkedLoops } from '../../loops/compiled-loop.ts';
import { formatOf } from '../../loops/format.ts';
import { type LoopInput, planLoop } from '../../loops/plan/plan-loop.ts';
import { copyBack, writable } from '../../operands/resident.ts';
import type { KernelPrimitive } from '../kernel-primitive.ts';
import { loopStep } from '../loops/loop-step.ts';
import { runLoop } from '../loops/run-loop.ts';
import type { MatrixBatch } from './matrix-batch.ts';
import { placeProduct, runProduct, stepOfProduct } from './placed-product.ts';

/** The number of parts of each sum. It is the same for any number of threads, and so are the results. */
export const PARTS = 4;
/**
 * The minimum number of multiplications of a part, so that adding the parts takes a small share of the time.
 */
const SHORTEST = 128;

/**
 * Prepares a product whose sums are longer than its rows and columns, like the gradient of weights, which
 * sums over all tokens (split-K): a batch of products of parts of A's columns and B's rows, whose results are
 * added. Each thread then reads its own part of A and B, which is often in its cache. Null for other
 * products.
 */
export function prepareSplitK(product: MatrixBatch, output: TensorDesc): KernelPrimitive | null {
  const { batch, m, n, k, a, b } = product;
  const part = k / PARTS;
  const format = formatOf(output.dtype);
  if (batch.length > 0 || !format || !Number.isInteger(part) || part < Math.max(SHORTEST, m / 2, n / 2))
    return null;
  const parts: MatrixBatch = {
    ...{ batch: [PARTS], m, n, k: part },
    a: { ...a, batch: [part * a.column] },
    b: { ...b, batch: [part * b.row] },
    c: { row: n, column: 1, batch: [m * n] },
  };
  const shape = [m, n];
  const inputs = Array.from({ length: PARTS }, (_, p): LoopInput => {
    const matrix = { shape, strides: [n, 1], offset: p * m * n };
    return { name: inputName(p), format: 'f32', source: 0, ...matrix };
  });
  const total = inputs.map((_, p) => input(p)).reduce((sum, next) => add(sum, next));
  const strides = [product.c.row, product.c.column];
  const adding = planLoop(total, inputs, shape, { kind: 'store', format, strides });
  if (!adding) return null;
  const link = linkedLoops([adding]);
  return {
    run(kernels, operands, [c], team) {
      const { loops, matrices, memory } = kernels;
      const linked = link(loops);
      if (!loops || !matrices || !linked) return false;
      memory.reset();
      const sums = memory.scratch(PARTS * m * n).at;
      runProduct(kernels, matrices, placeProduct(kernels, loops, parts, operands, sums), team);
      const result = writable(memory, c);
      runLoop(adding, linked[0], kernels, result, [sums], team);
      copyBack(memory, c, result);
      return true;
    },
    steps(kernels, operands, [c]) {
      const { loops, memory } = kernels;
      if (!loops) return null;
      const sums = memory.scratch(PARTS * m * n).at;
      const step = stepOfProduct(kernels, placeProduct(kernels, loops, parts, operands, sums));
      return step && [step, loopStep(adding, kernels, writable(memory, c), [sums])];
    },
  };
}
