import {
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  nearestName,
  type OperandLayout,
  sameShape,
} from '@tilewise/core';
import { isInWorkspace } from '../../codegen/shader-part.ts';
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
 * A tensor as a problem describes it: what a GpuTensor must be, but for the strides of dimensions of one
 * element; of other buffers only the bytes can be checked.
 */
export type ExpectedTensor = Pick<OperandLayout, 'dtypes' | 'shape' | 'strides'>;

/** The slice that was given for a tensor; regions of the workspace are in that of the whole. */
export function sliceFor(slices: ReadonlyMap<string, BufferSlice>, name: string): BufferSlice {
  const slice = slices.get(isInWorkspace(name) ? 'workspace' : name);
  if (!slice) throw new TypeError(`no slice for ${name}`);
  return slice;
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
