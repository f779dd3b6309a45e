import type { ArrayName, Sizes } from './arrays.ts';

/** Rows of q, k or v that a workgroup of the tiled kernels holds; also the number of its invocations. */
export const tileRows = 32;

/** Invocations per workgroup in the kernels without tiles. */
export const lanes = 64;

/** The maximum number of reads of an array that a solution may make, in units that readers count in. */
export interface ReadBudget {
  readonly array: ArrayName;
  /** Tiles of `tileRows` rows, or passes over the whole array. */
  readonly unit: 'tiles' | 'passes';
  readonly most: (sizes: Sizes) => number;
}

/** A kernel to write: its bindings, its dispatch, and how often it may read. */
export interface Puzzle {
  readonly id: PuzzleId;
  readonly inputs: readonly ArrayName[];
  readonly outputs: readonly ArrayName[];
  readonly causal: boolean;
  /** The part that one workgroup computes: 64 rows, a tile of rows, or one row. */
  readonly workgroup: 'lanes' | 'tile' | 'row';
  readonly budgets: readonly ReadBudget[];
  /** The minimum number of barriers that a correct kernel of this kind needs. */
  readonly barriers: number;
  /** The kernel to compare its time with: one in `rivals`, or the solution of an earlier puzzle. */
  readonly rival: { readonly kind: 'own' } | { readonly kind: 'puzzle'; readonly id: PuzzleId } | null;
}

const tilesOf = (n: number): number => Math.ceil(n / tileRows);

/** Each tile of queries meets each tile of keys once. */
const everyPair = ({ n }: Sizes): number => tilesOf(n) ** 2;

/** Each tile of queries meets the tiles of keys up to its own. */
const untilDiagonal = ({ n }: Sizes): number => (tilesOf(n) * (tilesOf(n) + 1)) / 2;

const tiles = (arrays: readonly ArrayName[], most: (sizes: Sizes) => number): ReadBudget[] =>
  arrays.map(array => ({ array, unit: 'tiles', most }));

const passes = (most: number): ReadBudget[] => [{ array: 'x', unit: 'passes', most: () => most }];

const plain = { causal: false, budgets: [], barriers: 0, rival: null } as const;

/** The puzzles, ordered so that each builds on the previous ones. */
const ladder = [
  { ...plain, id: 'naive', inputs: ['q', 'k', 'v'], outputs: ['o'], workgroup: 'lanes' },
  {
    ...plain,
    id: 'row-softmax',
    inputs: ['x'],
    outputs: ['y'],
    workgroup: 'row',
    budgets: passes(3),
    barriers: 2,
    rival: { kind: 'own' },
  },
  {
    ...plain,
    id: 'streaming-softmax',
    inputs: ['x'],
    outputs: ['y'],
    workgroup: 'row',
    budgets: passes(2),
    barriers: 2,
    rival: { kind: 'puzzle', id: 'row-softmax' },
  },
  {
    ...plain,
    id: 'tiled-forward',
    inputs: ['q', 'k', 'v'],
    outputs: ['o', 'lse'],
    workgroup: 'tile',
    budgets: tiles(['k', 'v'], everyPair),
    barriers: 2,
    rival: { kind: 'puzzle', id: 'naive' },
  },
  {
    ...plain,
    id: 'causal-skip',
    inputs: ['q', 'k', 'v'],
    outputs: ['o', 'lse'],
    causal: true,
    workgroup: 'tile',
    budgets: tiles(['k', 'v'], untilDiagonal),
    barriers: 2,
    rival: { kind: 'puzzle', id: 'tiled-forward' },
  },
  { ...plain, id: 'delta', inputs: ['o', 'dO'], outputs: ['delta'], workgroup: 'lanes' },
  {
    ...plain,
    id: 'dq',
    inputs: ['q', 'k', 'v', 'dO', 'stats'],
    outputs: ['dq'],
    workgroup: 'tile',
    budgets: tiles(['k', 'v'], everyPair),
    barriers: 2,
    rival: { kind: 'own' },
  },
  {
    ...plain,
    id: 'dkv',
    inputs: ['q', 'k', 'v', 'dO', 'stats'],
    outputs: ['dk', 'dv'],
    workgroup: 'tile',
    budgets: tiles(['q', 'dO'], everyPair),
    barriers: 2,
    rival: { kind: 'own' },
  },
] as const;

export type PuzzleId = (typeof ladder)[number]['id'];

export const puzzles: readonly Puzzle[] = ladder;

export const puzzleIds: readonly PuzzleId[] = ladder.map(({ id }) => id);

/** The name under which a puzzle's program and mark are stored. */
export const taskOf = (id: PuzzleId): string => `kernel.${id}`;

/** The puzzle with an id. */
export function puzzleOf(id: PuzzleId): Puzzle {
  const found = puzzles.find(puzzle => puzzle.id === id);
  if (!found) throw new RangeError(`there is no puzzle ${id}`);
  return found;
}

/** The number of workgroups of a puzzle's dispatch. */
export function workgroupsOf({ workgroup }: Puzzle, { n, rows }: Sizes): number {
  return { lanes: Math.ceil(n / lanes), tile: tilesOf(n), row: rows }[workgroup];
}
