import { type BackwardProblem, elementCount, elementsSpanned, type OperandDesc } from '@tilewise/core';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import { backwardAmaxes } from '../config/fp8-steps.ts';
import type { KernelConfig } from '../config/kernel-config.ts';
import { deltaKernel } from '../kernels/backward/delta.ts';
import { dkdvKernel, type KeyGradients } from '../kernels/backward/dkdv.ts';
import { dqKernel } from '../kernels/backward/dq.ts';
import { type BackwardTiles, backwardTiles, defaultTile } from '../tiles/tile-table.ts';
import { type AttentionPlan, type KernelMaker, kernelMaker, type PlanOn } from './attention-plan.ts';
import { backwardTensors } from './tensors.ts';

/** The plan of a backward problem, with only the kernels that the requested gradients need. */
export function backwardPlan(
  problem: BackwardProblem,
  on: PlanOn,
  tiles: BackwardTiles = backwardTiles(problem, on.target),
): AttentionPlan {
  const { tools } = on;
  const { fp8, mxfp8 } = tools;
  const { capabilities } = on.target;
  const tensors = backwardTensors(problem, tools, tiles.dq, capabilities);
  const maker = kernelMaker(on, tensors);
  const first = [
    ...(fp8 ? fp8.clearAmaxKernels(backwardAmaxes(problem)) : []),
    maker.make(own => deltaKernel(problem, own, capabilities)),
  ];
  const dequantised = mxfp8?.dequantisedBackward(problem);
  if (!mxfp8 || !dequantised)
    return { ...tensors, kernels: [...first, ...gradientKernels(problem, maker, tiles, capabilities)] };
  const inBlocks = { dq: defaultTile, dkdv: defaultTile };
  const inWorkspace = kernelMaker(
    { ...on, unaligned: new Set() },
    backwardTensors(dequantised, tools, defaultTile, capabilities),
  );
  return {
    ...tensors,
    kernels: [
      ...first,
      ...mxfp8.dequantiseKernels(problem.forward, 'backward', maker.config),
      ...gradientKernels(dequantised, inWorkspace, inBlocks, capabilities).map(mxfp8.onWorkspace),
    ],
  };
}

/** The kernels that recompute the scores. */
function gradientKernels(
  problem: BackwardProblem,
  { config, make }: KernelMaker,
  tiles: BackwardTiles,
  capabilities: Capabilities,
): KernelSpec[] {
  const wanted = new Set(problem.gradients);
  const kernels = keyGradientKernels(problem, { config, make }, tiles);
  if (wanted.has('dq')) kernels.push(make(own => dqKernel(problem, problem.dq, { ...own, tile: tiles.dq })));
  const { inputGradients, captureGradients } = config.tools;
  for (const tools of [inputGradients, captureGradients])
    if (tools) kernels.push(...tools.kernels(problem, { ...config, tile: tiles.dq }, capabilities));
  return kernels;
}

/** The size in bytes up to which copying a tensor takes no noticeable time. */
const smallTensor = 65536;

/** The kernels of dK and dV: one kernel for both if possible, which recomputes the scores only once. */
function keyGradientKernels(
  problem: BackwardProblem,
  { config, make }: KernelMaker,
  { dkdv: tile }: BackwardTiles,
): KernelSpec[] {
  const { forward, gradients } = problem;
  const dk = gradients.includes('dk') ? { dk: problem.dk } : null;
  const dv = gradients.includes('dv') ? { dv: problem.dv } : null;
  const kernel =
    (which: KeyGradients) =>
    (own: KernelConfig): KernelSpec =>
      dkdvKernel(problem, which, { ...own, tile });
  const each = [dk, dv].flatMap(one => (one ? [make(kernel(one))] : []));
  // The accumulators of both must fit into registers.
  const fits = forward.Hk === forward.Hv && forward.Dqk + forward.Dv <= tile.maxFusedChannels;
  if (!dk || !dv || !fits) return each;
  // Gathering a large tensor to save a kernel would take longer than running two kernels.
  const bindingBudget = { ...config.bindingBudget, upTo: smallTensor };
  const fused = make(kernel({ ...dk, ...dv }), { bindingBudget });
  if (fused.bindings.length > bindingBudget.buffers) return each;
  const interleaved = hasGaps(dk.dk) || hasGaps(dv.dv);
  return [{ ...fused, aliasFallback: { kernels: each, interleaved } }];
}

/** Whether there is memory between the elements of a tensor that may hold something else. */
const hasGaps = (desc: OperandDesc): boolean => elementsSpanned(desc) > elementCount(desc.shape);
