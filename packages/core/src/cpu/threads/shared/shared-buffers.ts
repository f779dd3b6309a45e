import { TilewiseError } from '../../../errors.ts';

/** Shared memory for one pass. */
export interface SharedBuffers {
  /**
   * A buffer of exactly `bytes`, which still has its old contents.
   * @throws TilewiseError with code `OUT_OF_MEMORY`.
   */
  take(bytes: number): SharedArrayBuffer;
  /** Returns all buffers for reuse by other passes. Call it only after every worker is done with them. */
  release(): void;
}

/** Fresh memory costs more than copying into it, so up to this many bytes of buffers are reused. */
const MAX_KEPT_BYTES = 256 * 2 ** 20;

const free: SharedArrayBuffer[] = [];

/** Shared memory that is reused by later passes of the same sizes. */
export function sharedBuffers(): SharedBuffers {
  const taken: SharedArrayBuffer[] = [];
  return {
    take(bytes) {
      const at = free.findIndex(buffer => buffer.byteLength === bytes);
      const buffer = at < 0 ? allocate(bytes) : free.splice(at, 1)[0];
      taken.push(buffer);
      return buffer;
    },
    release() {
      free.push(...taken.splice(0));
      let total = free.reduce((sum, { byteLength }) => sum + byteLength, 0);
      while (total > MAX_KEPT_BYTES) total -= free.shift()?.byteLength ?? 0;
    },
  };
}

function allocate(bytes: number): SharedArrayBuffer {
  try {
    return new SharedArrayBuffer(bytes);
  } catch (cause) {
    throw new TilewiseError('OUT_OF_MEMORY', `no shared memory for ${bytes} bytes`, { cause });
  }
}
