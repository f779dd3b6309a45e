import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Slot } from '../../compile/memory-plan.ts';

/** Memory of an engine that programs share, and the number of programs that use it. */
interface Block<T> {
  readonly dtype: Slot['dtype'];
  readonly length: number;
  readonly tensor: T;
  users: number;
}

const blocksOf = new WeakMap<object, Block<TensorDesc>[]>();

/** Tensors for the slots of a program, which are released together. */
export interface Slots<T> {
  readonly tensors: readonly T[];
  release(): void;
}

/**
 * Allocates memory for the temporaries of a program.
 * @param isShared whether each run of the program is recorded or completed before another program of the
 * engine runs. Such programs share the memory of their temporaries, so that a graph of many partitions takes
 * no more memory than its largest partition.
 */
export function allocateSlots<T extends TensorDesc>(
  engine: TensorEngine<T>,
  slots: readonly Slot[],
  isShared: boolean,
): Slots<T> {
  const blocks = (isShared ? (blocksOf.get(engine) ?? []) : []) as Block<T>[];
  if (isShared) blocksOf.set(engine, blocks as unknown as Block<TensorDesc>[]);
  const own = new Set<Block<T>>();

  /** The smallest usable block that is long enough and that no other slot of this program uses. */
  function blockFor({ dtype, length }: Slot): Block<T> {
    const free = blocks.filter(
      block =>
        !own.has(block) &&
        block.dtype === dtype &&
        block.length >= length &&
        !engine.primitives.isLost?.(block.tensor),
    );
    const [first, ...more] = free;
    if (first) return more.reduce((best, block) => (block.length < best.length ? block : best), first);
    const tensor = engine.primitives.allocate({ dtype, shape: [Math.max(length, 1)] });
    const made = { dtype, length, tensor, users: 0 };
    blocks.push(made);
    return made;
  }

  function release(): void {
    for (const block of own) {
      if (--block.users > 0) continue;
      blocks.splice(blocks.indexOf(block), 1);
      engine.release(block.tensor);
    }
    own.clear();
  }

  const tensors = new Array<T>(slots.length);
  try {
    // Allocates the largest slots first, so that they get the largest blocks.
    const order = [...slots.keys()].sort((a, b) => slots[b].length - slots[a].length);
    for (const n of order) {
      const block = blockFor(slots[n]);
      block.users++;
      own.add(block);
      tensors[n] = block.tensor;
    }
  } catch (error) {
    release();
    throw error;
  }
  return { tensors, release };
}
