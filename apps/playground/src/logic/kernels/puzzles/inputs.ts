import { Tensor } from '@tilewise/core';
import { sdpaFloat64 } from '@tilewise/core/reference';
import { fillNormal } from '@tilewise/philox';
import { type ArrayName, rowCount, rowLength, type Sizes } from './arrays.ts';
import { lanes, type Puzzle, tileRows } from './puzzles.ts';

/** The name of an input, after the property that makes it hard. */
export type InputId = 'whole' | 'tail' | 'one' | 'falling' | 'rising' | 'high' | 'low';

/** One input of a kernel: f32 arrays in row-major order, and 1/√D as an f32. */
export interface KernelInput {
  readonly id: InputId;
  readonly sizes: Sizes;
  readonly scale: number;
  readonly arrays: ReadonlyMap<ArrayName, Float32Array>;
}

interface Recipe {
  readonly id: InputId;
  /** The length of a softmax row, or the number of queries and keys. */
  readonly n: { readonly softmax: number; readonly attention: number };
  readonly columns: number;
  /** A number to add to the score of key j; `at` goes from 0 at the first key to 1 at the last one. */
  readonly add: (at: number) => number;
}

/**
 * The hidden inputs, the easiest first. e^120 overflows an f32 and e^-120 underflows. So a softmax without
 * its maximum fails on `high` and `low`, and one that uses the first score as its maximum fails on `rising`,
 * as does one that does not correct its state.
 */
const recipes: readonly Recipe[] = [
  { id: 'whole', n: { softmax: 2 * lanes, attention: 2 * tileRows }, columns: 16, add: () => 0 },
  { id: 'tail', n: { softmax: 77, attention: 45 }, columns: 8, add: () => 0 },
  { id: 'one', n: { softmax: 1, attention: 1 }, columns: 16, add: () => 0 },
  { id: 'falling', n: { softmax: 150, attention: 70 }, columns: 16, add: at => 65 - 130 * at },
  { id: 'rising', n: { softmax: 150, attention: 70 }, columns: 16, add: at => 130 * at - 65 },
  { id: 'high', n: { softmax: 100, attention: 37 }, columns: 16, add: () => 120 },
  { id: 'low', n: { softmax: 100, attention: 37 }, columns: 16, add: () => -120 },
];

const rows = 3;

/** Normal numbers, always the same for an array. */
function normal(count: number, seed: number): Float32Array {
  const values = new Float32Array(count);
  fillNormal(values, { seed });
  return values;
}

/** Inputs of softmax: rows of random numbers, with a shift for each column. */
function softmaxArrays(sizes: Sizes, add: Recipe['add']): Map<ArrayName, Float32Array> {
  const x = normal(sizes.rows * sizes.n, 1).map(
    (value, e) => value + add((e % sizes.n) / Math.max(1, sizes.n - 1)),
  );
  return new Map([['x', x]]);
}

/** The host tensor of a matrix of n × D. */
export const asTensor = (values: Float32Array, { n, columns }: Sizes): Tensor =>
  Tensor.from(values, [1, 1, n, columns]);

/**
 * Inputs of attention: the first column of q is 1, and the first column of k is the number to add to the
 * key's scores.
 */
function attentionArrays(sizes: Sizes, scale: number, add: Recipe['add']): Map<ArrayName, Float32Array> {
  const { n, columns } = sizes;
  const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal(n * columns, seed)) as [
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  for (let i = 0; i < n; i++) {
    q[i * columns] = 1;
    k[i * columns] = add(i / Math.max(1, n - 1)) / scale;
  }
  const [tq, tk, tv] = [q, k, v].map(values => asTensor(values, sizes)) as [Tensor, Tensor, Tensor];
  const { o, lse } = sdpaFloat64(tq, tk, tv, { scale });
  const stats = new Float32Array(2 * n);
  for (let i = 0; i < n; i++) {
    let delta = 0;
    for (let c = i * columns; c < (i + 1) * columns; c++) delta += (dO[c] ?? 0) * (o.values[c] ?? 0);
    stats.set([lse.values[i] ?? 0, delta], 2 * i);
  }
  return new Map([
    ['q', q],
    ['k', k],
    ['v', v],
    ['dO', dO],
    ['o', Float32Array.from(o.values)],
    ['stats', stats],
  ]);
}

function inputOf(puzzle: Puzzle, id: InputId, sizes: Sizes, add: Recipe['add']): KernelInput {
  const scale = Math.fround(1 / Math.sqrt(sizes.columns));
  const arrays = puzzle.workgroup === 'row' ? softmaxArrays(sizes, add) : attentionArrays(sizes, scale, add);
  return { id, sizes, scale, arrays };
}

/** The inputs that a kernel is tried on. */
export function* hiddenInputs(puzzle: Puzzle): Generator<KernelInput> {
  for (const { id, n, columns, add } of recipes) {
    const extent = n[puzzle.workgroup === 'row' ? 'softmax' : 'attention'];
    yield inputOf(puzzle, id, { n: extent, columns, rows }, add);
  }
}

/** The number of inputs. */
export const hiddenCount: number = recipes.length;

/** The input that reads are counted on: four tiles, or two rows. */
export const countedInput = (puzzle: Puzzle): KernelInput =>
  inputOf(puzzle, 'whole', { n: 4 * tileRows, columns: 16, rows: 2 }, () => 0);

/** An input for time measurements. Its values do not matter, so they are small ones, none of them special. */
export function timedInput(puzzle: Puzzle, sizes: Sizes): KernelInput {
  const scale = Math.fround(1 / Math.sqrt(sizes.columns));
  const names = [...puzzle.inputs];
  const arrays = names.map((name): [ArrayName, Float32Array] => [
    name,
    normal(rowCount(name, sizes) * rowLength(name, sizes), 1),
  ]);
  return { id: 'whole', sizes, scale, arrays: new Map(arrays) };
}
