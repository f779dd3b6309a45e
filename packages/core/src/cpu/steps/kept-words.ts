import { TilewiseError } from '../../errors.ts';
import type { AllocateWords, Memory } from '../kernels/memory/memory.ts';

/** Words in the memory of kernels that stay until they are released, or until this object is unreachable. */
export interface KeptWords {
  /** @throws TilewiseError with code `OUT_OF_MEMORY`. */
  readonly allocate: AllocateWords;
  release(): void;
}

/** The least number of words that are taken from the memory at once, and the words of a cache line. */
const BLOCK = 256;
const LINE = 16;

interface Blocks {
  readonly memory: Memory;
  readonly places: number[];
}

const unreachable = /* @__PURE__ */ new FinalizationRegistry<Blocks>(free);

/** Makes an allocator of words in a memory. */
export function keepWords(memory: Memory): KeptWords {
  const blocks: Blocks = { memory, places: [] };
  let next = 0;
  let left = 0;
  const words: KeptWords = {
    allocate(wanted) {
      const count = Math.ceil(wanted / LINE) * LINE;
      if (count > left) {
        const taken = Math.max(count, BLOCK);
        const kept = memory.keep(4 * taken);
        if (!kept) throw new TilewiseError('OUT_OF_MEMORY', `no memory for ${4 * taken} bytes of tasks`);
        next = kept.at;
        left = taken;
        blocks.places.push(next);
      }
      const at = next;
      next += 4 * count;
      left -= count;
      return at;
    },
    release() {
      unreachable.unregister(words);
      free(blocks);
    },
  };
  unreachable.register(words, blocks, words);
  return words;
}

function free({ memory, places }: Blocks): void {
  for (const at of places.splice(0)) memory.free(at);
}
