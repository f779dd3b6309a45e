import { dtypeInfo, elementsSpanned, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { storageDesc } from '../ir/tensor/storage.ts';
import type { CompiledPartition } from './partitions/compiled-partition.ts';

/** The tensors that one partition writes and others read. */
export interface Intermediates<T> {
  /** The tensors by id. They are allocated again if the engine had no memory for one of them. */
  readonly tensors: ReadonlyMap<number, T>;
  readonly bytes: number;
  release(): void;
}

/**
 * Allocates the intermediate results of a graph; tensors with disjoint lifetimes share memory. On an error it
 * frees everything.
 * @param isBetween whether one partition writes the tensor of this id and only others read it.
 */
export function allocateIntermediates<T extends TensorDesc>(
  engine: TensorEngine<T>,
  partitions: readonly CompiledPartition<T>[],
  isBetween: (id: number) => boolean,
): Intermediates<T> {
  const lastUse = new Map<number, number>();
  partitions.forEach((partition, n) => {
    for (const { id } of partition.inputs) if (isBetween(id)) lastUse.set(id, n);
  });
  const blocks: T[] = [];
  const tensors = new Map<number, T>();
  let bytes = 0;
  let isAllocated = false;

  function release(): void {
    for (const block of blocks.splice(0)) engine.release(block);
    tensors.clear();
    isAllocated = false;
  }

  function allocateAll(): void {
    bytes = 0;
    // Free tensors by dtype and length, because the layers of a model repeat both.
    const free = new Map<string, T[]>();
    const blockOf = new Map<number, { readonly block: T; readonly key: string }>();

    function allocate(t: LogicalTensor): void {
      const { dtype, shape, strides } = storageDesc(t);
      const length = Math.max(elementsSpanned({ shape, strides }), 1);
      const key = `${dtype} ${length}`;
      const reused = free.get(key)?.pop();
      const block = reused ?? engine.primitives.allocate({ dtype, shape: [length] });
      if (!reused) {
        blocks.push(block);
        bytes += length * dtypeInfo[dtype].bytes;
      }
      tensors.set(t.id, engine.primitives.view(block, { shape, strides }));
      blockOf.set(t.id, { block, key });
    }

    try {
      partitions.forEach((partition, n) => {
        for (const t of partition.outputs) if (isBetween(t.id)) allocate(t);
        for (const { id } of partition.inputs) {
          const own = blockOf.get(id);
          if (!own || lastUse.get(id) !== n) continue;
          blockOf.delete(id);
          free.set(own.key, [...(free.get(own.key) ?? []), own.block]);
        }
      });
      isAllocated = true;
    } catch (error) {
      release();
      throw error;
    }
  }

  allocateAll();
  return {
    get tensors() {
      if (!isAllocated || blocks.some(block => engine.primitives.isLost?.(block))) {
        release();
        allocateAll();
      }
      return tensors;
    },
    bytes,
    release,
  };
}
