import type { Kernels } from './kernels.ts';

/**
 * C += A·B of `Kernels`, where a weight of 0 in A adds nothing, whatever its row of B holds. That is what keeps NaN and
 * infinities behind a mask from leaking: there the weights are exactly 0, and 0·NaN would be NaN. Slow, and only for panels
 * B that do hold such values. Sums are made as in the TypeScript kernels, so that garbage does not even change a rounding.
 */
export const addWeightedRows: Kernels['multiply'] = (m, n, depth, a, at, ai, ak, b, bt, ldb, c, ct, ldc) => {
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < depth; k++) {
        const weight = a[at + i * ai + k * ak];
        if (weight !== 0) sum += weight * b[bt + k * ldb + j];
      }
      c[ct + i * ldc + j] += sum;
    }
  }
};
