/** Numbers held besides q, k, v and o while n queries attend to n keys with head size d. */
export interface MemoryUse {
  /** Scores and probabilities, n × n each. */
  readonly naive: number;
  /** One tile of scores, and (m, d, numerator) of a tile of queries. */
  readonly streaming: number;
}

export function memoryUse(n: number, d: number, tile: number): MemoryUse {
  const rows = Math.min(tile, n);
  return { naive: 2 * n * n, streaming: rows * rows + rows * (d + 2) };
}
