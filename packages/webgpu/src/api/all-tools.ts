import { exprTools } from '@tilewise/core/expr';
import { fp8Tools } from '../attention/fp8/fp8-tools.ts';
import { mxfp8Tools } from '../attention/fp8/mxfp8-tools.ts';
import type { KernelTools } from './tools.ts';

/** For whatever option a problem has. */
export const allTools: KernelTools = { expr: exprTools, fp8: fp8Tools, mxfp8: mxfp8Tools };
