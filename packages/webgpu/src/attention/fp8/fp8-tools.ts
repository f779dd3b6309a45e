import { type Fp8Reading, fp8Reading } from '@tilewise/core';
import { fp8List } from '../../api/fp8-list.ts';
import { clearAmaxKernels, fp8Arithmetic } from './fp8.ts';
import { roundedValuesKernel } from './fp8-output.ts';

/** What reads the options of 8 bits, makes the kernels of FP8 and runs them. */
export interface Fp8Tools {
  readonly reading: Fp8Reading;
  readonly arithmetic: typeof fp8Arithmetic;
  readonly clearAmaxKernels: typeof clearAmaxKernels;
  readonly roundedValuesKernel: typeof roundedValuesKernel;
  readonly list: typeof fp8List;
}

export const fp8Tools: Fp8Tools = {
  reading: fp8Reading,
  arithmetic: fp8Arithmetic,
  clearAmaxKernels,
  roundedValuesKernel,
  list: fp8List,
};
