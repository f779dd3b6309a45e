/** The form of an array: n × D, rows × n, one element for each of n rows, or a pair for each of n rows. */
export type ArrayForm = 'matrix' | 'rows' | 'vector' | 'pairs';

/** The arrays that kernels read and write. `stats` holds the lse and the delta of each query. */
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

/** The sizes of a problem: only softmax uses `rows`, only attention uses `columns` (D). */
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
