import type { Heap } from './heap.ts';

/** Memory that is reserved piece by piece, and freed all at once. */
export interface Arena {
  /**
   * Reserves bytes with undefined contents. Returns their address, a multiple of 64.
   * @throws the error of the heap if there is no space.
   */
  reserve(bytes: number): number;
  /** Frees all pieces. */
  reset(): void;
  /** Changes when the addresses of earlier pieces may no longer be used as scratch memory. */
  readonly generation: number;
}

const ALIGNMENT = 64;
/** The least number of bytes of a block. */
const BLOCK = 2 ** 18;

/** An arena of blocks of a heap. */
export function createArena(heap: Pick<Heap, 'allocate' | 'free'>): Arena {
  /** The allocated blocks. Of the last one, `top` to `end` is free. */
  let blocks: number[] = [];
  let blockBytes = 0;
  let top = 0;
  let end = 0;
  let generation = 0;

  function addBlock(bytes: number): void {
    top = heap.allocate(bytes);
    blocks.push(top);
    blockBytes += bytes;
    end = top + bytes;
  }

  return {
    reserve(bytes) {
      const room = Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
      if (top + room > end) addBlock(Math.max(room, BLOCK));
      const at = top;
      top += room;
      return at;
    },
    reset() {
      if (blocks.length > 1) {
        // Replaces the blocks by a single one.
        for (const block of blocks) heap.free(block);
        blocks = [];
        generation++;
        const bytes = blockBytes;
        blockBytes = 0;
        end = 0;
        try {
          addBlock(bytes);
        } catch {
          // Tensors are stored between the blocks. The next pieces may need less.
        }
      }
      top = blocks[0] ?? 0;
    },
    get generation() {
      return generation;
    },
  };
}
