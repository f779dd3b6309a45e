import { fp8Reading } from '@tilewise/core';
import type { Fp8Tools } from '../config/kernel-config.ts';
import { clearAmaxKernels, fp8Arithmetic } from './fp8.ts';
import { fp8OutputKernel } from './fp8-output.ts';

export const fp8Tools: Fp8Tools = {
  reading: fp8Reading,
  arithmetic: fp8Arithmetic,
  clearAmaxKernels,
  outputKernel: fp8OutputKernel,
};
