/**
 * The number of parts of a pass's operands that have arrived in the memory that workers read: one number in
 * shared memory.
 */
export type Arrivals = Int32Array;

/** More than the number of parts. */
const ALL = 2 ** 31 - 1;

export function createArrivals(): Arrivals {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** Announces that parts 0 to `part` have arrived; with the last one, everything has. */
export function announcePart(arrivals: Arrivals, part: number, isLast: boolean): void {
  Atomics.store(arrivals, 0, isLast ? ALL : part + 1);
  Atomics.notify(arrivals, 0);
}

/** Waits for a part. It blocks the thread, so threads that must stay responsive must not call it. */
export function awaitPart(arrivals: Arrivals, part: number): void {
  for (let n = Atomics.load(arrivals, 0); n <= part; n = Atomics.load(arrivals, 0)) {
    Atomics.wait(arrivals, 0, n);
  }
}
