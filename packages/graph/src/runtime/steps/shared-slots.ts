import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Slot } from '../../compile/memory-plan.ts';

/** Memory of an engine that programs share, and how many programs have it. */
interface Block<T> {
  readonly dtype: Slot['dtype'];
  readonly length: number;
  readonly tensor: T;
  users: number;
}

const blocksOf = new WeakMap<object, Block<TensorDesc>[]>();

/** Tensors for the slots of a program, which are let go of together. */
export interface Slots<T> {
  readonly tensors: readonly T[];
  release(): void;
}

/**
 * Memory for the temporaries of a program.
 * @param isShared whether each run of the program is recorded, or done, before another program of the engine
 * runs: then its temporaries lie where those of other such programs lie, so that a graph of many partitions
 * takes no more memory than its largest one.
 */
export function allocateSlots<T extends TensorDesc>(
  engine: TensorEngine<T>,
  slots: readonly Slot[],
  isShared: boolean,
): Slots<T> {
  const blocks = (isShared ? (blocksOf.get(engine) ?? []) : []) as Block<T>[];
  if (isShared) blocksOf.set(engine, blocks as unknown as Block<TensorDesc>[]);
  const own = new Set<Block<T>>();

  /** The smallest block that is long enough and not another slot's of this program. */
  function blockFor({ dtype, length }: Slot): Block<T> {
    const free = blocks.filter(block => !own.has(block) && block.dtype === dtype && block.length >= length);
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
    // The largest first, so that they take the largest blocks.
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
