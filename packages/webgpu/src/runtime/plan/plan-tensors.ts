import {
  type DType,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  nearestName,
  type Shape,
  type Strides,
  sameShape,
} from '@tilewise/core';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import { isInWorkspace, type StorageBinding, tensorOf } from '../../codegen/shader-part.ts';
import { checkKind } from '../../device/check-kind.ts';
import { bufferUsage } from '../../device/webgpu-flags.ts';
import type { GpuMemory } from '../memory/gpu-memory.ts';
import { GpuTensor } from '../memory/gpu-tensor.ts';

/** Where a tensor starts. */
export interface BufferSlice {
  readonly buffer: GPUBuffer;
  /** Bytes, default 0; a multiple of the `alignment` that the plan states for the tensor. */
  readonly offset?: number;
}

/**
 * A value that may be passed for a tensor: a slice of a buffer, a whole buffer, or a tensor of this library
 * on the same device.
 */
export type PlanBuffer = GPUBuffer | BufferSlice | GpuTensor;

/** A tensor that a plan binds. */
export interface PlanTensor {
  readonly name: string;
  /** Bytes from its first to its last element. */
  readonly bytes: number;
  /**
   * The offset of its slice must be a multiple of this: one element, or four where they are moved as vectors.
   */
  readonly alignment: number;
  readonly access: 'read' | 'read_write';
}

/**
 * A tensor as a problem describes it: what a GpuTensor must be; of other buffers only the bytes can be
 * checked.
 */
export interface ExpectedTensor {
  readonly dtypes: readonly DType[];
  readonly shape: Shape;
  /** The strides; those of dimensions of one element do not matter. */
  readonly strides: Strides;
}

/** Where the regions of the workspace start, in bytes, and what they take together. */
export interface WorkspaceLayout {
  readonly starts: ReadonlyMap<string, number>;
  readonly bytes: number;
}

/**
 * Regions behind each other; kernels write to one and read another, so their bindings must not meet when they
 * are rounded.
 */
export function layWorkspace(
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
export function sliceFor(slices: ReadonlyMap<string, BufferSlice>, name: string): BufferSlice {
  const slice = slices.get(isInWorkspace(name) ? 'workspace' : name);
  if (!slice) throw new TypeError(`no slice for ${name}`);
  return slice;
}

/** Every tensor that some kernel binds, with the strictest of their demands. */
export function planTensors(
  kernels: readonly KernelSpec[],
  bytesOf: (binding: StorageBinding) => number,
  workspaceBytes: number,
): PlanTensor[] {
  const tensors = new Map<string, PlanTensor>();
  for (const binding of kernels.flatMap(kernel => kernel.bindings)) {
    const { access, alignment } = binding;
    const name = planName(binding);
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

/** The names of tensors of which a plan reads what they hold when it starts; others it writes first. */
export function tensorsRead(kernels: readonly KernelSpec[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const read = new Set<string>();
  for (const binding of kernels.flatMap(({ bindings }) => bindings)) {
    const name = planName(binding);
    if (binding.updates || (binding.access === 'read' && !seen.has(name))) read.add(name);
    seen.add(name);
  }
  return read;
}

/** The name under which a caller gives a binding. */
function planName(binding: StorageBinding): string {
  return isInWorkspace(binding.name) ? 'workspace' : tensorOf(binding);
}

/**
 * The slice that was given for a tensor. Buffers may hold others than the plan's, so that two plans may share
 * them.
 */
export function checkedSlice(
  ctx: GpuMemory,
  { name, bytes, alignment }: PlanTensor,
  buffers: Readonly<Record<string, PlanBuffer>>,
  tensors: readonly PlanTensor[],
  expected: ExpectedTensor | undefined,
): BufferSlice {
  const argument = `buffers.${name}`;
  const given: PlanBuffer | undefined = buffers[name];
  if (!given) {
    const others = Object.keys(buffers).filter(key => !tensors.some(tensor => tensor.name === key));
    const meant = nearestName(name, others);
    throw new InvalidArgumentError(argument, `is missing${meant ? `; is it buffers.${meant}?` : ''}`);
  }
  const slice = sliceOf(ctx, argument, given, expected);
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

function sliceOf(
  ctx: GpuMemory,
  argument: string,
  given: PlanBuffer,
  expected: ExpectedTensor | undefined,
): BufferSlice {
  if (!(given instanceof GpuTensor)) {
    checkKind(argument, given, 'a GPUBuffer, a slice of one or a GpuTensor');
    const slice = 'buffer' in given ? given : { buffer: given };
    checkKind(argument, slice.buffer, 'a GPUBuffer');
    return slice;
  }
  const { buffer, byteOffset } = ctx.checkOwn(argument, given);
  if (expected) checkTensor(argument, given, expected);
  return { buffer, offset: byteOffset };
}

/**
 * @throws InvalidDTypeError, InvalidShapeError or InvalidArgumentError for another tensor than the plan was
 * made for.
 */
function checkTensor(argument: string, given: GpuTensor, { dtypes, shape, strides }: ExpectedTensor): void {
  if (!dtypes.includes(given.dtype))
    throw new InvalidDTypeError(argument, `must be ${dtypes.join(' or ')}, got ${given.dtype}`);
  if (!sameShape(given.shape, shape))
    throw new InvalidShapeError(argument, `must have shape [${shape}], got [${given.shape}]`);
  if (shape.some((n, d) => n > 1 && given.strides[d] !== strides[d]))
    throw new InvalidArgumentError(argument, `must have strides [${strides}], got [${given.strides}]`);
}
