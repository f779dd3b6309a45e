import type { Engine, Tensor } from '@tilewise/core';
import type { GpuContext } from '../device/context.ts';
import type { GpuTensor } from '../device/gpu-tensor.ts';
import { allTools } from './all-tools.ts';
import { checkSupport } from './plan-backward.ts';
import { backwardWith, forwardWith } from './sdpa.ts';

/** A context as an engine. The promises of `sdpa` resolve as soon as the work is enqueued. */
export function webgpuEngine(ctx: GpuContext): Engine<GpuTensor> {
  const { vendor, architecture, description } = ctx.device.adapterInfo ?? {};
  return {
    name: 'webgpu',
    description: description || [vendor, architecture].filter(Boolean).join(' ') || 'WebGPU',
    checkSupport: problem => checkSupport(ctx, problem),
    upload: (tensor: Tensor) => ctx.upload(tensor),
    download: tensor => ctx.download(tensor),
    release: tensor => ctx.release(tensor),
    sdpa: async (q, k, v, options) => forwardWith(() => allTools, ctx, { q, k, v }, options),
    sdpaBackward: async (inputs, options) => backwardWith(() => allTools, ctx, inputs, options),
  };
}
