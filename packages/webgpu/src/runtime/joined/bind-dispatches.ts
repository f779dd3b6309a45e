import { dispatchSize } from '../../codegen/kernel-spec.ts';
import type { GpuMemory } from '../memory/gpu-memory.ts';
import { compile } from '../plan/pipelines.ts';
import type { JoinedDispatch } from './joined-dispatches.ts';

/** Offsets into a uniform buffer must be multiples of this number of bytes on every device. */
const UNIFORM_ALIGNMENT = 256;

/** The arguments of the calls that record a dispatch in a pass. */
interface PassCalls {
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly size: readonly [x: number, y: number];
}

/** Dispatches that are bound to their tensors, and the buffer of their parameters. */
export interface BoundDispatches {
  readonly calls: readonly PassCalls[];
  readonly uniform: GPUBuffer;
}

/** Binds dispatches whose kernels are compiled. The parameters of all are in one buffer. */
export function bindDispatches(ctx: GpuMemory, dispatches: readonly JoinedDispatch[]): BoundDispatches {
  const { device } = ctx;
  let end = 0;
  const offsets = dispatches.map(({ parameters }) => {
    const offset = end;
    end += Math.ceil(parameters.length / UNIFORM_ALIGNMENT) * UNIFORM_ALIGNMENT;
    return offset;
  });
  const content = new Uint8Array(end);
  for (const [n, { parameters }] of dispatches.entries()) content.set(parameters, offsets[n]);
  const uniform = ctx.takeUniform(content);
  const calls = dispatches.map(({ kernel, resources, parameters, groups }, n): PassCalls => {
    const { pipeline, layout } = compile(device, kernel);
    const own = { buffer: uniform, offset: offsets[n], size: parameters.length };
    const entries = [own, ...resources].map((resource, binding) => ({ binding, resource }));
    const group = device.createBindGroup({ label: kernel.name, layout, entries });
    return { pipeline, group, size: dispatchSize(groups) };
  });
  return { calls, uniform };
}
