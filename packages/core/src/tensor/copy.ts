import { InvalidDTypeError, InvalidShapeError } from '../errors.ts';
import { checkHostTensor } from './checks/check-on-host.ts';
import { checkStorage } from './checks/check-storage.ts';
import { copyStrided } from './copy-strided.ts';
import { sameShape } from './shape.ts';
import type { Tensor } from './tensor.ts';

/**
 * Copies the elements of one tensor to another of the same shape and dtype, bit by bit. Gaps between the
 * elements of `to` are not written. The two must not overlap in memory.
 * @throws InvalidArgumentError for a value that is not a tensor on this host, or has lost its storage;
 * InvalidShapeError or InvalidDTypeError if shapes or dtypes differ.
 */
export function copyTensor(from: Tensor, to: Tensor): void {
  checkHostTensor('from', from);
  checkHostTensor('to', to);
  if (from.dtype !== to.dtype) throw new InvalidDTypeError('to', `is ${to.dtype}, but from is ${from.dtype}`);
  if (!sameShape(from.shape, to.shape)) {
    throw new InvalidShapeError('to', `has shape [${to.shape}], but from has [${from.shape}]`);
  }
  checkStorage({ from, to });
  copyStrided(from.shape, from, to);
}
