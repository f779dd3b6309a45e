import type { NodeResult } from '../../node-call.ts';
import { type HostTensor, hostTensor, reader, type Value } from '../../value.ts';

/** A result whose element at an index is the element of one input at another index. */
export function moved(
  { type, host, shape: from }: Value,
  shape: readonly number[],
  place: (index: readonly number[]) => readonly number[],
  emit: NodeResult['emit'],
): NodeResult {
  return {
    ...{ type, shape, emit },
    ...(host && {
      fold: (): HostTensor => {
        const read = reader(host(), from);
        return hostTensor(shape, index => read(place(index)));
      },
    }),
  };
}
