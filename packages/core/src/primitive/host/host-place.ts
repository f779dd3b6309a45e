import { checkOnHost } from '../../tensor/checks/check-on-host.ts';
import { isHostArray } from '../../tensor/host-array.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Place } from '../primitive-engine.ts';

/**
 * The memory and offset of a host tensor.
 * @throws InvalidArgumentError for a tensor that is elsewhere.
 */
export function hostPlaceOf(tensor: Tensor): Place {
  if (!isHostArray(tensor)) checkOnHost({ tensor });
  const { data, offset } = tensor;
  return { memory: data.buffer, byteOffset: data.byteOffset + offset * data.BYTES_PER_ELEMENT };
}
