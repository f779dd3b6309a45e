import type { DropoutTools } from '../config/kernel-config.ts';
import { dropoutPart } from './dropout.ts';
import { dropoutMaskKernel } from './dropout-mask.ts';

/** The kernels of dropout. */
export const dropoutTools: DropoutTools = { part: dropoutPart, maskKernel: dropoutMaskKernel };
