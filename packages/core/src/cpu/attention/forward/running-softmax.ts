import type { Memory, Panel } from '../../kernels/memory/memory.ts';

/** The running softmax of a query tile: of the scores so far, each row's largest m and l = Σ e^(s − m). */
export interface RunningSoftmax {
  readonly largest: Panel;
  readonly sum: Panel<Float64Array>;
  /**
   * Forgets all scores of `rows` rows. A sink is a score that was there before the first; −Infinity is none.
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
