import {
  type AttentionProblem,
  type BackwardProblem,
  elementCount,
  maxOffset,
  type OperandDesc,
} from '@tilewise/core';
import type { BindingBudget } from '../../codegen/binding-pressure.ts';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import type { Capabilities } from '../../device/capabilities.ts';
import { backwardAmaxes, forwardAmaxes } from '../fp8-steps.ts';
import { type KernelConfig, type KernelTools, noTools } from '../kernel-config.ts';
import type { KernelTarget } from '../kernel-target.ts';
import { captureGradientKernels } from '../kernels/backward/capture-gradients.ts';
import { dAlibiKernels, dbiasKernels } from '../kernels/backward/dbias.ts';
import { rowsKernel } from '../kernels/backward/delta.ts';
import { dkdvKernel, type KeyGradients } from '../kernels/backward/dkdv.ts';
import { dqKernel } from '../kernels/backward/dq.ts';
import { dsinkKernel } from '../kernels/backward/dsink.ts';
import { dropoutMaskKernel } from '../kernels/forward/dropout-mask.ts';
import { forwardKernel } from '../kernels/forward/forward.ts';
import { type ForwardShape, forwardShape } from '../kernels/forward/forward-shape.ts';
import { mergeKernel } from '../kernels/forward/merge.ts';
import { withSegments } from '../layout/segments.ts';
import type { Tile } from '../tiles/tile.ts';
import { type BackwardTiles, backwardTiles, defaultTile } from '../tiles/tile-table.ts';
import { backwardFootprints, forwardFootprints } from './footprints.ts';
import { backwardTensorSpans, forwardTensorSpans, type GradientDescs } from './spans.ts';

/** The kernels of a forward problem, in the order in which they run. */
export function forwardKernels(
  problem: AttentionProblem,
  target: KernelTarget,
  unaligned: ReadonlySet<string>,
  tools: KernelTools = noTools,
  shape: ForwardShape = forwardShape(problem, target),
): KernelSpec[] {
  const spans = forwardTensorSpans(problem, shape, tools);
  const config: KernelConfig = {
    unaligned,
    tools,
    bindingBudget: bindingBudgetOn(target.capabilities, spans),
  };
  const { fp8, mxfp8 } = tools;
  const dequantised = mxfp8?.dequantisedProblem(problem);
  if (mxfp8 && dequantised) {
    return [
      ...mxfp8.dequantiseKernels(problem, 'forward', config),
      ...forwardKernels(dequantised, target, new Set(), tools, shape).map(mxfp8.onWorkspace),
    ];
  }
  const needs = { spans, footprints: forwardFootprints(problem, shape), target };
  const made = (make: (config: KernelConfig) => KernelSpec): KernelSpec =>
    withSegments(segments => make({ ...config, segments }), needs);
  return [
    ...(fp8 ? fp8.clearAmaxKernels(forwardAmaxes(problem)) : []),
    made(own => forwardKernel(problem, shape, own)),
    ...(fp8 && problem.fp8?.kind === 'scaled' ? [made(own => fp8.outputKernel(problem, own))] : []),
    ...(shape.parts > 1 ? [mergeKernel(problem, shape.parts, config)] : []),
    ...(problem.outputs.dropoutMask ? [dropoutMaskKernel(problem)] : []),
  ];
}

/** The kernels of a backward problem: only those that the wanted gradients need. */
export function backwardKernels(
  problem: BackwardProblem,
  gradients: GradientDescs,
  target: KernelTarget,
  unaligned: ReadonlySet<string>,
  tools: KernelTools = noTools,
  tiles: BackwardTiles = backwardTiles(problem, target),
): KernelSpec[] {
  const spans = backwardTensorSpans(problem, gradients, tools);
  const bindingBudget = bindingBudgetOn(target.capabilities, spans);
  const config: KernelConfig = { unaligned, tools, bindingBudget };
  const needs = { spans, footprints: backwardFootprints(problem, gradients), target };
  const first = [
    ...(tools.fp8 ? tools.fp8.clearAmaxKernels(backwardAmaxes(problem)) : []),
    withSegments(segments => rowsKernel(problem, { ...config, segments }), needs),
  ];
  const { mxfp8 } = tools;
  const dequantised = mxfp8?.dequantisedBackward(problem);
  if (!mxfp8 || !dequantised) {
    return [...first, ...gradientKernels(problem, gradients, target, config, tiles)];
  }
  const whole: KernelConfig = { ...config, unaligned: new Set() };
  const inBlocks: BackwardTiles = { dq: defaultTile, dkdv: defaultTile };
  return [
    ...first,
    ...mxfp8.dequantiseKernels(problem.forward, 'backward', config),
    ...gradientKernels(dequantised, gradients, target, whole, inBlocks).map(mxfp8.onWorkspace),
  ];
}

/** The kernels that go over the scores once more. */
function gradientKernels(
  problem: BackwardProblem,
  gradients: GradientDescs,
  target: KernelTarget,
  config: KernelConfig,
  tiles: BackwardTiles,
): KernelSpec[] {
  const { bindingBudget } = config;
  const spans = backwardTensorSpans(problem, gradients, config.tools);
  const needs = { spans, footprints: backwardFootprints(problem, gradients), target };
  const made = (make: (config: KernelConfig) => KernelSpec, base = config): KernelSpec =>
    withSegments(segments => make({ ...base, segments }), needs);
  const keyGradients = (which: KeyGradients, own: KernelConfig): KernelSpec =>
    dkdvKernel(problem, which, { ...own, tile: tiles.dkdv });
  const wanted = new Set(problem.gradients);
  const kernels: KernelSpec[] = [];
  const dk = wanted.has('dk') ? { dk: gradients.dk } : null;
  const dv = wanted.has('dv') ? { dv: gradients.dv } : null;
  if (dk && dv && fuses(problem, tiles.dkdv)) {
    // To copy a large tensor for its sake takes more than two kernels do.
    const fused = made(own => keyGradients({ ...dk, ...dv }, own), {
      ...config,
      bindingBudget: { ...bindingBudget, upTo: smallTensor },
    });
    const each = [dk, dv].map(one => made(own => keyGradients(one, own)));
    if (fused.bindings.length > bindingBudget.buffers) kernels.push(...each);
    else
      kernels.push({
        ...fused,
        aliasFallback: { kernels: each, interleaved: hasGaps(dk.dk) || hasGaps(dv.dv) },
      });
  } else {
    for (const one of [dk, dv]) if (one) kernels.push(made(own => keyGradients(one, own)));
  }
  if (wanted.has('dq')) {
    kernels.push(made(own => dqKernel(problem, gradients.dq, { ...own, tile: tiles.dq })));
  }
  if (wanted.has('dbias')) kernels.push(...dbiasKernels(problem, config));
  if (wanted.has('dAlibi')) kernels.push(...dAlibiKernels(problem, config));
  if (wanted.has('dsink')) kernels.push(dsinkKernel(problem, config));
  kernels.push(...captureGradientKernels(problem, config));
  return kernels;
}

/** Bytes of a tensor that is copied in no time. */
const smallTensor = 65536;

function bindingBudgetOn(
  { maxStorageBuffersPerShaderStage }: Capabilities,
  spans: Readonly<Record<string, number>>,
): BindingBudget {
  return { buffers: maxStorageBuffersPerShaderStage, spans };
}

/** Whether something else may lie between the elements of a tensor. */
function hasGaps({ shape, strides }: OperandDesc): boolean {
  return elementCount(shape) > 0 && maxOffset(shape, strides) + 1 > elementCount(shape);
}

/** Whether dK and dV may share a kernel: the same heads, and accumulators that fit into registers. */
function fuses({ forward: { Hk, Hv, Dqk, Dv } }: BackwardProblem, tile: Tile): boolean {
  return Hk === Hv && Dqk + Dv <= tile.maxFusedChannels;
}
