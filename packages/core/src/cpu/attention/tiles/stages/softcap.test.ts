import { describe, expect, test } from 'vitest';
import { normalise } from '../../../../attention/call/normalise.ts';
import { tanh } from '../../../../expr/index.ts';
import { input } from '../../../../primitive/index.ts';
import { Tensor } from '../../../../tensor/tensor.ts';
import { createKernels, supportedVariants } from '../../../kernels/host-kernels.ts';
import { cpuPrimitives } from '../../../primitives/cpu-primitives.ts';
import { createSoftcapTile } from './softcap.ts';

const c = 2.5;
const size = { rows: 4, columns: 8 };
const x = Tensor.zeros([1, 1, 4, 8]);
const { problem } = normalise({ q: x, k: x, v: x }, { softcap: c });
const products = Float32Array.from({ length: 32 }, (_, n) => (n - 15) / 3);

describe.each(supportedVariants())('%s', variant => {
  const kernels = createKernels(variant);
  const softcap = createSoftcapTile(problem, kernels, size, true);
  const scores = kernels.memory.floats(32);
  const ds = kernels.memory.floats(32);

  test('a tile is capped, and ds multiplied by the derivative, within f32', () => {
    scores.values.set(products);
    ds.values.fill(3);
    softcap?.cap(scores, 4);
    softcap?.differentiate(ds, 4);
    for (const [n, product] of products.entries()) {
      expect(scores.values[n]).toBeCloseTo(c * Math.tanh(product / c), 6);
      expect(ds.values[n]).toBeCloseTo(3 * (1 - Math.tanh(product / c) ** 2), 5);
    }
  });

  test('tanh has the bits of a graph on this engine', () => {
    const one = normalise({ q: x, k: x, v: x }, { softcap: 1 }).problem;
    scores.values.set(products);
    createSoftcapTile(one, kernels, size, false)?.cap(scores, 4);
    const [from, to] = [Tensor.from(products, [32]), Tensor.zeros([32])];
    cpuPrimitives(variant)
      .prepare({ kind: 'map', value: tanh(input(0)) }, [from], [to])
      .run([from], [to]);
    expect(scores.values).toEqual(to.toFloat32());
  });

  test('a ds of 0 stays 0, even if the product is NaN', () => {
    scores.values.fill(NaN);
    ds.values.fill(0);
    softcap?.cap(scores, 4);
    softcap?.differentiate(ds, 4);
    expect([...ds.values]).toEqual(new Array(32).fill(0));
  });
});
