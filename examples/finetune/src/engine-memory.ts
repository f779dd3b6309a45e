import { dtypeInfo, Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/** Bytes of tensors on an engine: the current number, and the most since the last reading. */
export interface EngineMemory {
  readonly bytes: number;
  peak(): number;
}

const bytesOf = ({ dtype, shape }: TensorDesc): number =>
  dtypeInfo[dtype].bytes * shape.reduce((n, extent) => n * extent, 1);

const memoryOf = (tensor: TensorDesc): object => (tensor instanceof Tensor ? tensor.data : tensor);

/** An engine that counts the memory of its tensors. */
export function countingEngine<T extends TensorDesc>(
  engine: TensorEngine<T>,
): { readonly engine: TensorEngine<T>; readonly memory: EngineMemory } {
  // Counts by memory, because a host engine takes tensors, and views of tensors, without copying.
  const held = new Map<object, { readonly bytes: number; uses: number }>();
  let [bytes, peak] = [0, 0];
  const add = (tensor: T): T => {
    const known = held.get(memoryOf(tensor));
    if (known) known.uses++;
    else {
      held.set(memoryOf(tensor), { bytes: bytesOf(tensor), uses: 1 });
      bytes += bytesOf(tensor);
      peak = Math.max(peak, bytes);
    }
    return tensor;
  };
  const counted: TensorEngine<T> = {
    ...engine,
    upload: tensor => add(engine.upload(tensor)),
    release(tensor) {
      const known = held.get(memoryOf(tensor));
      if (known && --known.uses === 0) {
        held.delete(memoryOf(tensor));
        bytes -= known.bytes;
      }
      engine.release(tensor);
    },
    primitives: { ...engine.primitives, allocate: desc => add(engine.primitives.allocate(desc)) },
  };
  const memory: EngineMemory = {
    get bytes() {
      return bytes;
    },
    peak() {
      const most = peak;
      peak = bytes;
      return most;
    },
  };
  return { engine: counted, memory };
}
