import { TilewiseError } from '../../errors.ts';
import type { AllocateWords, Memory } from '../kernels/memory/memory.ts';

/**
 * An arena of words in the memory of kernels: all are freed by `release`, or when the arena is unreachable.
 */
export interface WordArena {
  /** @throws TilewiseError with code `OUT_OF_MEMORY`. */
  readonly allocate: AllocateWords;
  release(): void;
}

/** The least number of words that are taken from the memory at once, and the words of a cache line. */
const BLOCK = 256;
const LINE = 16;

interface Blocks {
  readonly memory: Memory;
  /** The addresses of the blocks. */
  readonly addresses: number[];
}

const unreachable = /* @__PURE__ */ new FinalizationRegistry<Blocks>(free);

/** An empty arena in a memory. */
export function createWordArena(memory: Memory): WordArena {
  const blocks: Blocks = { memory, addresses: [] };
  let next = 0;
  let left = 0;
  const arena: WordArena = {
    allocate(wanted) {
      const count = Math.ceil(wanted / LINE) * LINE;
      if (count > left) {
        const taken = Math.max(count, BLOCK);
        const kept = memory.keep(4 * taken);
        if (!kept) throw new TilewiseError('OUT_OF_MEMORY', `no memory for ${4 * taken} bytes of tasks`);
        next = kept.at;
        left = taken;
        blocks.addresses.push(next);
      }
      const at = next;
      next += 4 * count;
      left -= count;
      return at;
    },
    release() {
      unreachable.unregister(arena);
      free(blocks);
    },
  };
  unreachable.register(arena, blocks, arena);
  return arena;
}

function free({ memory, addresses }: Blocks): void {
  for (const at of addresses.splice(0)) memory.free(at);
}
