import { type Shape, Tensor } from '@tilewise/core';
import { fillNormal } from '@tilewise/philox';

/** f32 tensors of standard normals, each from a stream of its own, the same in every run. */
export function normalInputs<N extends string>(names: readonly N[], shape: Shape): Record<N, Tensor> {
  const entries = names.map((name, subsequence) => {
    const values = fillNormal(new Float32Array(shape.reduce((n, extent) => n * extent, 1)), {
      seed: 1,
      subsequence,
    });
    return [name, Tensor.wrap(values, { dtype: 'f32', shape })];
  });
  return Object.fromEntries(entries);
}
