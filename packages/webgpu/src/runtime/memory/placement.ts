import {
  dtypeInfo,
  InvalidArgumentError,
  type PartialDesc,
  type Shape,
  type Strides,
  type TensorDesc,
} from '@tilewise/core';
import { checkDesc, copiedDesc } from '@tilewise/core/engine';
import { checkOptions, describeValue } from '@tilewise/philox/errors';
import { checkKind } from '../../device/check-kind.ts';
import { bufferUsage } from '../../device/webgpu-flags.ts';
import type { GpuTensor } from './gpu-tensor.ts';
import { checkFits } from './tensor-storage.ts';

/**
 * Describes a tensor in a caller's buffer: row-major without gaps unless strides (in elements) are given;
 * `offset` is in bytes.
 */
export interface WrapDesc extends PartialDesc {
  /** The start of the tensor in the buffer, in bytes; a multiple of the size of one element. Default 0. */
  readonly offset?: number | undefined;
}

/**
 * Describes a view: its shape and strides (row-major without gaps unless given), starting at `offset`
 * elements.
 */
export interface ViewDesc {
  readonly shape: Shape;
  readonly strides?: Strides | undefined;
  readonly offset?: number | undefined;
}

/** A tensor that starts `byteOffset` bytes into a buffer. */
interface Placement {
  readonly desc: TensorDesc;
  readonly byteOffset: number;
}

/**
 * The placement of a tensor in a caller's buffer.
 * @throws InvalidShapeError if the tensor does not fit into the buffer; InvalidArgumentError or
 * InvalidDTypeError for an invalid `desc`.
 */
export function wrappedPlacement(buffer: GPUBuffer, desc: WrapDesc): Placement {
  checkKind('buffer', buffer, 'a GPUBuffer');
  checkOptions('desc', desc, ['dtype', 'shape', 'strides', 'offset']);
  const { offset = 0 } = desc;
  const tensor = copiedDesc(checkDesc(desc));
  const { dtype } = tensor;
  const { bytes } = dtypeInfo[dtype];
  if (!Number.isInteger(offset) || offset < 0 || offset % bytes !== 0) {
    const rule = `must be a multiple of ${bytes} bytes for ${dtype}, got ${describeValue(offset)}`;
    throw new InvalidArgumentError('offset', rule);
  }
  if (buffer.size % 4 !== 0) {
    const rule = `must have a size that is a multiple of 4 bytes, got ${buffer.size}`;
    throw new InvalidArgumentError('buffer', rule);
  }
  if (!(buffer.usage & bufferUsage.STORAGE)) {
    throw new InvalidArgumentError('buffer', `must have the usage STORAGE, got usage ${buffer.usage}`);
  }
  checkFits('buffer', buffer, offset, tensor);
  return { desc: tensor, byteOffset: offset };
}

/**
 * The placement of a view in its tensor's buffer.
 * @throws InvalidShapeError if an element would lie outside the buffer; InvalidArgumentError for an invalid
 * `view`.
 */
export function viewPlacement({ buffer, dtype, byteOffset }: GpuTensor, view: ViewDesc): Placement {
  checkOptions('desc', view, ['shape', 'strides', 'offset']);
  const { offset = 0, shape, strides } = view;
  const desc = copiedDesc(checkDesc({ dtype, shape, strides }));
  const start = Number.isSafeInteger(offset) ? byteOffset + offset * dtypeInfo[dtype].bytes : -1;
  if (start < 0) {
    const rule = `must be a whole number within the buffer, got ${describeValue(offset)}`;
    throw new InvalidArgumentError('offset', rule);
  }
  checkFits('shape', buffer, start, desc);
  return { desc, byteOffset: start };
}
