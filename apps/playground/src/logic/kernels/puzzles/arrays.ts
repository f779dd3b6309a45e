/** Elements of an array: n × D, rows × n, one for each row of n, or a pair for each row of n. */
export type ArrayForm = 'matrix' | 'rows' | 'vector' | 'pairs';

/** The arrays that kernels read and write. In `stats` each query has its lse and its delta. */
const forms = {
  q: 'matrix',
  k: 'matrix',
  v: 'matrix',
  o: 'matrix',
  dO: 'matrix',
  dq: 'matrix',
  dk: 'matrix',
  dv: 'matrix',
  lse: 'vector',
  delta: 'vector',
  stats: 'pairs',
  x: 'rows',
  y: 'rows',
} as const satisfies Record<string, ArrayForm>;

export type ArrayName = keyof typeof forms;

/** The sizes of a problem: `rows` counts for softmax alone, `columns` (D) for attention alone. */
export interface Sizes {
  readonly n: number;
  readonly columns: number;
  readonly rows: number;
}

export const formOf = (name: ArrayName): ArrayForm => forms[name];

/** Numbers in each row of an array. */
export function rowLength(name: ArrayName, { n, columns }: Sizes): number {
  return { matrix: columns, rows: n, vector: 1, pairs: 2 }[forms[name]];
}

/** Rows of an array. */
export const rowCount = (name: ArrayName, { n, rows }: Sizes): number => (forms[name] === 'rows' ? rows : n);
