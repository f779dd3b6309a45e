import type { Memory, Panel } from '../../kernels/memory/memory.ts';

/** The running softmax of a query tile: for each row, the largest score so far m, and l = Σ e^(s − m). */
export interface RunningSoftmax {
  readonly largest: Panel;
  readonly sum: Panel<Float64Array>;
  /**
   * Starts `rows` rows without scores. A sink counts as a score before the first; −Infinity means no sink.
   */
  start(rows: number, sink: number): void;
}

/** A running softmax for query tiles of at most `rows` rows. */
export function createRunningSoftmax(memory: Memory, rows: number): RunningSoftmax {
  const largest = memory.floats(rows);
  const sum = memory.allocate(Float64Array, rows);
  return {
    largest,
    sum,
    start(count, sink) {
      largest.values.fill(sink, 0, count);
      sum.values.fill(sink === -Infinity ? 0 : 1, 0, count);
    },
  };
}
