import { checkOnHost } from '../../tensor/checks/check-on-host.ts';
import { checkTensorStorage } from '../../tensor/checks/check-storage.ts';
import { isHostArray } from '../../tensor/host-array.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Place } from '../primitive-engine.ts';

/**
 * The memory and offset of a host tensor.
 * @throws InvalidArgumentError naming a tensor that is elsewhere, was released, or whose buffer was
 * transferred.
 */
export function hostPlaceOf(tensor: Tensor, argument = 'tensor'): Place {
  if (!isHostArray(tensor)) checkOnHost({ [argument]: tensor });
  const { data, offset } = tensor;
  // The array of such a tensor has no elements.
  if (data.length === 0) checkTensorStorage(argument, tensor);
  return { memory: data.buffer, byteOffset: data.byteOffset + offset * data.BYTES_PER_ELEMENT };
}
