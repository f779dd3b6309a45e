import { InvalidArgumentError, InvalidShapeError } from '@tilewise/core';
import { bufferUsage } from '../device/constants.ts';
import type { GpuContext } from '../device/context.ts';
import { GpuTensor } from '../device/gpu-tensor.ts';
import { compile, compileAsync } from '../device/pipelines.ts';
import { bindTensor, checkAliasing } from './bind.ts';
import { withGathering } from './gather.ts';
import type { KernelSpec } from './kernel-spec.ts';
import { ParameterBuffers } from './parameter-buffers.ts';
import {
  type EncodeTimeValue,
  gatheredTensor,
  isInWorkspace,
  packUniforms,
  type StorageBinding,
} from './shader-part.ts';

/** Where a tensor starts. */
export interface BufferSlice {
  readonly buffer: GPUBuffer;
  /** Bytes, default 0; a multiple of the `alignment` that the plan states for the tensor. */
  readonly offset?: number;
}

/** What may be passed for a tensor: a slice of a buffer, a whole buffer, or a tensor of this library on the same device. */
export type PlanBuffer = GPUBuffer | BufferSlice | GpuTensor;

/** A tensor that a plan binds. */
export interface PlanTensor {
  readonly name: string;
  /** Bytes from its first to its last element. */
  readonly bytes: number;
  /** The offset of its slice must be a multiple of this: one element, or four where they are moved as vectors. */
  readonly alignment: number;
  readonly access: 'read' | 'read_write';
}

/**
 * Kernels on one device, ready to be recorded any number of times. Nothing is submitted, mapped or allocated for tensors;
 * the parameters of a call lie in a small uniform buffer, which is made anew only when they change.
 */
export interface KernelPlan {
  readonly kernels: readonly KernelSpec[];
  readonly tensors: readonly PlanTensor[];
  encode(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    buffers: Readonly<Record<string, PlanBuffer>>,
    inputs: Readonly<Record<string, number>>,
  ): void;
  warmUp(): Promise<void>;
  /** Frees the parameters of calls before the last one; they must have been submitted. */
  retire(): void;
  /** Frees all parameters, likewise. */
  destroy(): void;
}

/** `spans` says how many elements each tensor takes in memory, by name. */
export function makeKernelPlan(
  ctx: GpuContext,
  made: readonly KernelSpec[],
  elements: Readonly<Record<string, number>>,
): KernelPlan {
  const { device, capabilities } = ctx;
  const { kernels, spans, words } = withGathering(made, elements);
  const bytesOf = ({ name, elementBytes }: StorageBinding): number => (spans[name] ?? 0) * elementBytes;
  const workspace = layWorkspace(kernels, bytesOf, capabilities.minStorageBufferOffsetAlignment);
  const tensors = planTensors(kernels, bytesOf, workspace.bytes);
  const steps = kernels.map(kernel => ({ kernel, parameters: new ParameterBuffers(ctx) }));
  const placeholders = new Map<string, GPUBuffer>();
  const placeholder = (name: string): BufferSlice => {
    const buffer = placeholders.get(name) ?? ctx.takeBuffer(16);
    placeholders.set(name, buffer);
    return { buffer };
  };

  return {
    kernels,
    tensors,
    encode(target, buffers, inputs) {
      ctx.checkAlive();
      const slices = new Map(
        tensors.map(tensor => [tensor.name, checkedSlice(ctx, tensor, buffers[tensor.name])]),
      );
      const calls = steps
        .filter(({ kernel }) => kernel.workgroups[0] > 0)
        .map(({ kernel, parameters }) => {
          const bound = kernel.bindings.map(binding => {
            const bytes = bytesOf(binding);
            // An empty tensor may lie at the very end of its buffer, where nothing can be bound.
            const { buffer, offset = 0 } =
              bytes > 0 ? sliceFor(slices, binding.name) : placeholder(binding.name);
            const start = offset + (workspace.starts.get(binding.name) ?? 0);
            return bindTensor(binding, buffer, start, bytes, capabilities.minStorageBufferOffsetAlignment);
          });
          checkAliasing(kernel, bound);
          return { kernel, parameters, bound };
        });
      const pass = 'dispatchWorkgroups' in target ? target : target.beginComputePass({ label: 'tilewise' });
      for (const { kernel, parameters, bound } of calls) {
        const { pipeline, layout } = compile(device, kernel);
        const skipped = (name: string): number =>
          bound.find(({ binding }) => binding.name === name)?.skipped ?? 0;
        const resolve = (value: EncodeTimeValue): number => {
          if ('input' in value) return inputs[value.input] ?? 0;
          if ('wordOf' in value) return Math.floor(skipped(value.wordOf) / 4);
          const name = value.offsetOf;
          const tensor = kernel.gathered.find(gathered => gathered.name === name);
          if (!tensor) {
            const own = bound.find(({ binding }) => binding.name === name);
            return own ? own.skipped / own.binding.elementBytes : 0;
          }
          // Its words were copied as they are, so it starts as far into the first one as it did.
          const first = skipped(gatheredTensor) + 4 * (words.get(name) ?? 0);
          return (first + ((slices.get(name)?.offset ?? 0) % 4)) / tensor.elementBytes;
        };
        const resources = [
          parameters.get(packUniforms(kernel.uniforms, resolve)),
          ...bound.map(({ resource }) => resource),
        ];
        pass.setPipeline(pipeline);
        pass.setBindGroup(
          0,
          device.createBindGroup({
            label: kernel.name,
            layout,
            entries: resources.map((resource, binding) => ({ binding, resource })),
          }),
        );
        pass.dispatchWorkgroups(...kernel.workgroups);
      }
      if (pass !== target) pass.end();
    },
    async warmUp() {
      ctx.checkAlive();
      await Promise.all(kernels.map(kernel => compileAsync(device, kernel)));
    },
    retire() {
      for (const { parameters } of steps) parameters.retire();
    },
    destroy() {
      for (const { parameters } of steps) parameters.destroy();
      for (const buffer of placeholders.values()) ctx.discard(buffer);
      placeholders.clear();
    },
  };
}

/** Where the regions of the workspace start, in bytes, and what they take together. */
interface WorkspaceLayout {
  readonly starts: ReadonlyMap<string, number>;
  readonly bytes: number;
}

/** Regions behind each other; kernels write to one and read another, so their bindings must not meet when they are rounded. */
function layWorkspace(
  kernels: readonly KernelSpec[],
  bytesOf: (binding: StorageBinding) => number,
  coarse: number,
): WorkspaceLayout {
  const regions = kernels.flatMap(({ bindings }) => bindings.filter(({ name }) => isInWorkspace(name)));
  const sizes = new Map(regions.map(region => [region.name, bytesOf(region)]));
  const starts = new Map<string, number>();
  let bytes = 0;
  for (const name of [...sizes.keys()].sort()) {
    const start = bytes === 0 ? 0 : Math.ceil(bytes / coarse) * coarse + coarse;
    starts.set(name, start);
    bytes = start + (sizes.get(name) ?? 0);
  }
  return { starts, bytes };
}

/** The slice that was given for a tensor; regions of the workspace are in that of the whole. */
function sliceFor(slices: ReadonlyMap<string, BufferSlice>, name: string): BufferSlice {
  const slice = slices.get(isInWorkspace(name) ? 'workspace' : name);
  if (!slice) throw new TypeError(`no slice for ${name}`);
  return slice;
}

/** Every tensor that some kernel binds, with the strictest of their demands. */
function planTensors(
  kernels: readonly KernelSpec[],
  bytesOf: (binding: StorageBinding) => number,
  workspaceBytes: number,
): PlanTensor[] {
  const tensors = new Map<string, PlanTensor>();
  for (const binding of kernels.flatMap(kernel => kernel.bindings)) {
    const { access, alignment } = binding;
    const name = isInWorkspace(binding.name) ? 'workspace' : binding.name;
    const seen = tensors.get(name);
    tensors.set(name, {
      name,
      bytes: name === 'workspace' ? workspaceBytes : bytesOf(binding),
      alignment: Math.max(alignment, seen?.alignment ?? 1),
      access: seen?.access === 'read_write' ? 'read_write' : access,
    });
  }
  return [...tensors.values()];
}

function checkedSlice(
  ctx: GpuContext,
  { name, bytes, alignment }: PlanTensor,
  given: PlanBuffer | undefined,
): BufferSlice {
  const argument = `buffers.${name}`;
  if (!given) throw new InvalidArgumentError(argument, 'is missing');
  const slice = sliceOf(ctx, argument, given);
  const { buffer, offset = 0 } = slice;
  if (!Number.isInteger(offset) || offset < 0 || offset % alignment !== 0) {
    throw new InvalidArgumentError(
      `${argument}.offset`,
      `must be a multiple of ${alignment} bytes, got ${offset}`,
    );
  }
  // Shaders see whole words, so the last one must be there.
  if (bytes > 0 && Math.ceil((offset + bytes) / 4) * 4 > buffer.size) {
    throw new InvalidShapeError(
      argument,
      `needs ${bytes} bytes from offset ${offset}, but its buffer has ${buffer.size}`,
    );
  }
  if (!(buffer.usage & bufferUsage.STORAGE)) {
    throw new InvalidArgumentError(argument, `must have the usage STORAGE, got usage ${buffer.usage}`);
  }
  return slice;
}

function sliceOf(ctx: GpuContext, argument: string, given: PlanBuffer): BufferSlice {
  if (given instanceof GpuTensor) {
    const { buffer, byteOffset } = ctx.checkOwn(argument, given);
    return { buffer, offset: byteOffset };
  }
  return 'buffer' in given ? given : { buffer: given };
}
