import { exprTools } from '@tilewise/core/expr';
import { fp8Tools } from '../attention/fp8/fp8-tools.ts';
import { mxfp8Tools } from '../attention/fp8/mxfp8-tools.ts';
import { fp8List } from './fp8-list.ts';
import type { CallTools } from './tools.ts';

/** For whatever option a problem has. */
export const allTools: CallTools = { expr: exprTools, fp8: fp8Tools, mxfp8: mxfp8Tools, list: fp8List };
