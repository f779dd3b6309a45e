/**
 * How many parts of the operands of a pass have arrived where workers read them: one number in shared memory.
 */
export type Arrivals = Int32Array;

/** More than there are parts. */
const ALL = 2 ** 31 - 1;

export function createArrivals(): Arrivals {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** Says that parts 0 to `part` are there; with the last one, that all is. */
export function announcePart(arrivals: Arrivals, part: number, isLast: boolean): void {
  Atomics.store(arrivals, 0, isLast ? ALL : part + 1);
  Atomics.notify(arrivals, 0);
}

/** Waits for a part. Blocks the thread; not for those that must stay free. */
export function awaitPart(arrivals: Arrivals, part: number): void {
  for (let n = Atomics.load(arrivals, 0); n <= part; n = Atomics.load(arrivals, 0)) {
    Atomics.wait(arrivals, 0, n);
  }
}
