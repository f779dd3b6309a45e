import { nearestName } from '@tilewise/core';
import { dataChecks } from '@tilewise/core/engine';
import { exprTools } from '@tilewise/core/expr';
import { dropoutTools } from '../../attention/dropout/dropout-tools.ts';
import { fp8Tools } from '../../attention/fp8/fp8.ts';
import { mxfp8Tools } from '../../attention/fp8/mxfp8.ts';
import { inputGradientTools } from '../../attention/kernels/backward/input-gradients.ts';
import { splitKvTools } from '../../attention/kernels/forward/split-kv.ts';
import { pagePart } from '../../attention/layout/pages.ts';
import { captureGradientTools } from '../../attention/mods/capture-gradients.ts';
import { modStages } from '../../attention/mods/mod-stages.ts';
import { inSegments } from '../../codegen/binding-limits/segments.ts';
import { fp8List } from './fp8-list.ts';
import type { CallTools } from './tools.ts';

/** Tools for every option of a forward problem. */
export const forwardTools: CallTools = /* @__PURE__ */ ((): CallTools => ({
  ...{ dropout: dropoutTools, splitKv: splitKvTools, mods: modStages(exprTools), expr: exprTools },
  ...{ fp8: fp8Tools, mxfp8: mxfp8Tools, list: fp8List, segments: inSegments, pages: pagePart },
  checks: { data: dataChecks, nearestName },
}))();

/** Tools for every option of any problem. */
export const allTools: CallTools = /* @__PURE__ */ ((): CallTools => ({
  ...forwardTools,
  ...{ captureGradients: captureGradientTools(exprTools), inputGradients: inputGradientTools },
}))();
