import { exprTools } from '@tilewise/core/expr';
import { fp8Tools } from '../../attention/fp8/fp8-tools.ts';
import { mxfp8Tools } from '../../attention/fp8/mxfp8-tools.ts';
import type { GpuContext } from '../../runtime/context.ts';
import { fp8List } from './fp8-list.ts';
import { type CallTools, loadedTools } from './tools.ts';

/** The tools of an engine, to which mods and options of 8 bits come as plain data. */
export function engineTools(ctx: GpuContext): CallTools {
  return { ...loadedTools(ctx, exprTools), fp8: fp8Tools, mxfp8: mxfp8Tools, list: fp8List };
}
