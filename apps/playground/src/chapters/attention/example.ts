type Value = readonly [number, number, number];

/** Scores of one query and the value vectors of its keys. */
export interface Example {
  readonly x: readonly number[];
  readonly v: readonly [Value, ...Value[]];
}

/** Twelve keys: the maximum rises three times on the way, so that rescaling is seen. */
export const example: Example = {
  x: [0.4, -0.6, 1.1, 0.2, -1.2, 0.7, 2.3, 0.9, -0.3, 1.6, 2.9, 0.1],
  v: [
    [0.9, 0.1, 0.2],
    [0.2, 0.8, 0.1],
    [0.1, 0.3, 0.9],
    [0.7, 0.6, 0.1],
    [0.3, 0.2, 0.5],
    [0.5, 0.9, 0.4],
    [0.8, 0.4, 0.7],
    [0.1, 0.7, 0.3],
    [0.6, 0.1, 0.8],
    [0.4, 0.5, 0.2],
    [0.2, 0.9, 0.6],
    [0.9, 0.6, 0.5],
  ],
};
