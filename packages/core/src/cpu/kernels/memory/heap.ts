/** Blocks of bytes in a memory that can grow. */
export interface Heap {
  /**
   * Allocates a block of at least `bytes`. Returns its address, a multiple of 64.
   * @throws the error of growing the memory if there is no space.
   */
  allocate(bytes: number): number;
  /** Frees the block at an address; ignores an address without a block. */
  free(at: number): void;
  /** The bytes of all allocated blocks. */
  readonly used: number;
}

const ALIGNMENT = 64;

/**
 * A first-fit heap that starts at `base`.
 * @param size the bytes of the memory; `grow` adds at least `bytes` to them and returns the new size.
 */
export function createHeap(base: number, size: number, grow: (bytes: number) => number): Heap {
  /** Free ranges by address, none adjacent to another. */
  const free: { at: number; bytes: number }[] = [];
  const sizes = new Map<number, number>();
  const start = Math.ceil(base / ALIGNMENT) * ALIGNMENT;
  let end = start;
  let total = size;
  let used = 0;
  takeNew();

  /** Frees the memory beyond the current end. */
  function takeNew(): void {
    const larger = Math.max(Math.floor(total / ALIGNMENT) * ALIGNMENT, end);
    addFree(end, larger - end);
    end = larger;
  }

  function addFree(at: number, bytes: number): void {
    if (bytes <= 0) return;
    let n = free.findIndex(stretch => stretch.at > at);
    if (n < 0) n = free.length;
    const before = free[n - 1];
    if (before && before.at + before.bytes === at) before.bytes += bytes;
    else free.splice(n++, 0, { at, bytes });
    const own = free[n - 1];
    const after = free[n];
    if (!after || own.at + own.bytes !== after.at) return;
    own.bytes += after.bytes;
    free.splice(n, 1);
  }

  function extend(bytes: number): void {
    const last = free.at(-1);
    const atEnd = last && last.at + last.bytes === end ? last.bytes : 0;
    total = grow(end - atEnd + bytes - total);
    takeNew();
  }

  return {
    allocate(wanted) {
      const bytes = Math.max(Math.ceil(wanted / ALIGNMENT), 1) * ALIGNMENT;
      const fits = (): number => free.findIndex(stretch => stretch.bytes >= bytes);
      let n = fits();
      if (n < 0) {
        extend(bytes);
        n = fits();
      }
      const stretch = free[n];
      const { at } = stretch;
      stretch.at += bytes;
      stretch.bytes -= bytes;
      if (stretch.bytes === 0) free.splice(n, 1);
      sizes.set(at, bytes);
      used += bytes;
      return at;
    },
    free(at) {
      const bytes = sizes.get(at);
      if (bytes === undefined) return;
      sizes.delete(at);
      used -= bytes;
      addFree(at, bytes);
    },
    get used() {
      return used;
    },
  };
}
