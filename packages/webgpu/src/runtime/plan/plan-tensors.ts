import { InvalidArgumentError, InvalidShapeError } from '@tilewise/core';
import { checkLayout, type OperandLayout } from '@tilewise/core/engine';
import { describeValue } from '@tilewise/philox/errors';
import { isInWorkspace } from '../../codegen/shader-part.ts';
import { checkKind } from '../../device/check-kind.ts';
import { bufferUsage } from '../../device/webgpu-flags.ts';
import type { GpuMemory } from '../memory/gpu-memory.ts';
import { GpuTensor } from '../memory/gpu-tensor.ts';

/** A part of a buffer in which a tensor starts. */
export interface BufferSlice {
  /** A buffer with the usage STORAGE, on the device of the plan. */
  readonly buffer: GPUBuffer;
  /**
   * The start of the tensor in bytes; a multiple of the `alignment` that the plan gives for the tensor.
   * Default 0.
   */
  readonly offset?: number | undefined;
}

/**
 * A value that can be passed for a tensor of a plan: a slice of a buffer, a whole buffer, or a GpuTensor on
 * the same device.
 */
export type PlanBuffer = GPUBuffer | BufferSlice | GpuTensor;

/** A tensor that a plan binds. */
export interface PlanTensor {
  /** The key of its buffer in the `buffers` of `encode`, such as `q` or `mask`. */
  readonly name: string;
  /**
   * The number of bytes from its first to its last element. A buffer must contain the word of 4 bytes in
   * which the last element ends.
   */
  readonly bytes: number;
  /**
   * The offset of the tensor's slice must be a multiple of this number of bytes: the size of one element, or
   * of four if kernels read or write the tensor in vectors.
   */
  readonly alignment: number;
  /** `read` if no kernel of the plan writes the tensor. */
  readonly access: 'read' | 'read_write';
}

/**
 * A tensor as a problem describes it. A GpuTensor must match the description, except for the strides of
 * dimensions of one element; of other buffers, only the size can be checked.
 */
export type ExpectedTensor = Pick<OperandLayout, 'dtypes' | 'shape' | 'strides'>;

/** Returns the name under which a missing buffer was probably given; undefined if no name is similar. */
export type MeantFor = (name: string) => string | undefined;

/** The slice given for a tensor; for a region of the workspace, the slice of the whole workspace. */
export function sliceFor(slices: ReadonlyMap<string, BufferSlice>, name: string): BufferSlice {
  const slice = slices.get(isInWorkspace(name) ? 'workspace' : name);
  if (!slice) throw new TypeError(`no slice for ${name}`);
  return slice;
}

/**
 * The slice given for a tensor, checked, with its offset.
 * @param meantFor suggests a name if the buffer is missing.
 */
export function checkedSlice(
  ctx: GpuMemory,
  { name, bytes, alignment }: PlanTensor,
  given: PlanBuffer | undefined,
  meantFor: MeantFor | undefined,
  expected: ExpectedTensor | undefined,
): BufferSlice {
  const argument = `buffers.${name}`;
  if (!given) {
    const meant = meantFor?.(name);
    throw new InvalidArgumentError(argument, `is missing${meant ? `; is it buffers.${meant}?` : ''}`);
  }
  const { buffer, offset = 0 } = sliceOf(ctx, argument, given, expected);
  if (!Number.isInteger(offset) || offset < 0 || offset % alignment !== 0) {
    throw new InvalidArgumentError(
      `${argument}.offset`,
      `must be a multiple of ${alignment} bytes, got ${describeValue(offset)}`,
    );
  }
  // Shaders read whole words, so the buffer must contain all of the last one.
  const end = Math.ceil((offset + bytes) / 4) * 4;
  if (bytes > 0 && end > buffer.size) {
    throw new InvalidShapeError(
      argument,
      `needs ${bytes} bytes from offset ${offset}, so a buffer of ${end}, got ${buffer.size}`,
    );
  }
  if (!(buffer.usage & bufferUsage.STORAGE)) {
    throw new InvalidArgumentError(argument, `must have the usage STORAGE, got usage ${buffer.usage}`);
  }
  // A copy, because the caller may change the object and pass it again.
  return { buffer, offset };
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
  if (expected) checkLayout(argument, given, expected);
  return { buffer, offset: byteOffset };
}
