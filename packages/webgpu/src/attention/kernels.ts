import {
  type AttentionProblem,
  type BackwardProblem,
  elementCount,
  maxOffset,
  type OperandDesc,
} from '@tilewise/core';
import type { ExprTools } from '@tilewise/core/expr';
import type { Capabilities } from '../device/capabilities.ts';
import type { BindingRoom } from '../kernel/crowding.ts';
import type { KernelSpec } from '../kernel/kernel-spec.ts';
import { isBlockTile } from './block-rounding.ts';
import { captureGradientKernels } from './capture-gradients.ts';
import { dkdvKernel } from './dkdv.ts';
import { dqKernel } from './dq.ts';
import { dropoutMaskKernel } from './dropout-mask.ts';
import { dsinkKernel } from './dsink.ts';
import { forwardKernel } from './forward.ts';
import { type ForwardShape, forwardShape } from './forward-shape.ts';
import { backwardAmaxes, clearAmaxKernels, forwardAmaxes } from './fp8.ts';
import { mergeKernel } from './merge.ts';
import { dequantisedBackward, dequantisedProblem, dequantiseKernels, onWorkspace } from './mxfp8.ts';
import { roundedValuesKernel } from './rounded-values.ts';
import { rowsKernel } from './rows.ts';
import { dAlibiKernels, dbiasKernels } from './score-gradient.ts';
import { backwardTensorSpans, forwardTensorSpans, type GradientDescs } from './tensors.ts';
import type { Tile } from './tile.ts';
import {
  defaultTile,
  type KernelConfig,
  maxChannelsForFusedKeyGradients,
  type TileConfig,
} from './tile-table.ts';

/** The kernels of a forward problem, in the order in which they run. */
export function forwardKernels(
  problem: AttentionProblem,
  capabilities: Capabilities,
  unaligned: ReadonlySet<string>,
  tools: ExprTools | null = null,
  shape: ForwardShape = forwardShape(problem),
): KernelSpec[] {
  const room = roomOn(capabilities, forwardTensorSpans(problem, shape));
  const config: KernelConfig = { unaligned, tools, room };
  const dequantised = dequantisedProblem(problem);
  if (dequantised) {
    return [
      ...dequantiseKernels(problem, 'forward', config),
      ...forwardKernels(dequantised, capabilities, new Set(), tools, shape).map(onWorkspace),
    ];
  }
  return [
    ...clearAmaxKernels(forwardAmaxes(problem)),
    forwardKernel(problem, shape, config),
    ...(problem.fp8?.kind === 'scaled'
      ? [roundedValuesKernel(problem, { ...config, tile: shape.tile })]
      : []),
    ...(shape.parts > 1 ? [mergeKernel(problem, shape.parts, config)] : []),
    ...(problem.outputs.dropoutMask ? [dropoutMaskKernel(problem)] : []),
  ];
}

/** The kernels of a backward problem: only those that the wanted gradients need. */
export function backwardKernels(
  problem: BackwardProblem,
  gradients: GradientDescs,
  capabilities: Capabilities,
  unaligned: ReadonlySet<string>,
  tools: ExprTools | null = null,
  tile: Tile = defaultTile,
): KernelSpec[] {
  const room = roomOn(capabilities, backwardTensorSpans(problem, gradients));
  const config: TileConfig = { tile, unaligned, tools, room };
  const first = [...clearAmaxKernels(backwardAmaxes(problem)), rowsKernel(problem, config)];
  const dequantised = dequantisedBackward(problem);
  if (!dequantised) return [...first, ...gradientKernels(problem, gradients, config)];
  const inBlocks: TileConfig = {
    ...config,
    tile: isBlockTile(tile) ? tile : defaultTile,
    unaligned: new Set(),
  };
  return [
    ...first,
    ...dequantiseKernels(problem.forward, 'backward', config),
    ...gradientKernels(dequantised, gradients, inBlocks).map(onWorkspace),
  ];
}

/** The kernels that go over the scores once more. */
function gradientKernels(
  problem: BackwardProblem,
  gradients: GradientDescs,
  config: TileConfig,
): KernelSpec[] {
  const { room } = config;
  const wanted = new Set(problem.gradients);
  const kernels: KernelSpec[] = [];
  const dk = wanted.has('dk') ? { dk: gradients.dk } : null;
  const dv = wanted.has('dv') ? { dv: gradients.dv } : null;
  if (dk && dv && fuses(problem)) {
    // To copy a large tensor for its sake takes more than two kernels do.
    const fused = dkdvKernel(problem, { ...dk, ...dv }, { ...config, room: { ...room, upTo: smallTensor } });
    const each = [dkdvKernel(problem, dk, config), dkdvKernel(problem, dv, config)];
    if (fused.bindings.length > room.buffers) kernels.push(...each);
    else kernels.push({ ...fused, apart: { kernels: each, interleaved: hasGaps(dk.dk) || hasGaps(dv.dv) } });
  } else {
    for (const one of [dk, dv]) if (one) kernels.push(dkdvKernel(problem, one, config));
  }
  if (wanted.has('dq')) kernels.push(dqKernel(problem, gradients.dq, config));
  if (wanted.has('dbias')) kernels.push(...dbiasKernels(problem, config));
  if (wanted.has('dAlibi')) kernels.push(...dAlibiKernels(problem, config));
  if (wanted.has('dsink')) kernels.push(dsinkKernel(problem, config));
  kernels.push(...captureGradientKernels(problem, config));
  return kernels;
}

/** Bytes of a tensor that is copied in no time. */
const smallTensor = 65536;

function roomOn(
  { maxStorageBuffersPerShaderStage }: Capabilities,
  spans: Readonly<Record<string, number>>,
): BindingRoom {
  return { buffers: maxStorageBuffersPerShaderStage, spans };
}

/** Whether something else may lie between the elements of a tensor. */
function hasGaps({ shape, strides }: OperandDesc): boolean {
  return elementCount(shape) > 0 && maxOffset(shape, strides) + 1 > elementCount(shape);
}

/** Whether dK and dV may share a kernel: the same heads, and accumulators that fit into registers. */
function fuses({ forward: { Hk, Hv, Dqk, Dv } }: BackwardProblem): boolean {
  return Hk === Hv && Dqk + Dv <= maxChannelsForFusedKeyGradients;
}
