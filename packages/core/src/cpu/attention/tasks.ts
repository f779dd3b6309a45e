import type { AttentionProblem, BackwardProblem } from '../../attention/problem/problem.ts';
import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import type { TileRange, TileSize } from './tiles/tile-size.ts';

/** Query heads `first` ≤ h < `end` of a sequence, which share their heads of k and v with no other heads. */
interface HeadsTask {
  /** The index of these heads among the `headGroups`. */
  readonly group: number;
  readonly b: number;
  readonly first: number;
  readonly end: number;
}

/** Query rows `from` ≤ i < `to` of some heads. */
export interface RowsTask extends HeadsTask {
  readonly from: number;
  readonly to: number;
}

/**
 * Divides forward into tasks that may run in any order and on any thread, because no two of them write the
 * same number. A task is whole tiles of query rows of a head, at most half a thread's share of all remaining
 * work (guided self-scheduling, Polychronopoulos and Kuck 1987). So the first heads are not cut, only one
 * thread unpacks their keys and values, and the last tasks are single tiles, so that threads end at about the
 * same time. Later rows of a head, which see more keys under a causal mask, come first. Rows do not depend on
 * each other, so the division does not change any bit.
 */
export function forwardTasks(problem: AttentionProblem, { rows }: TileSize, threads: number): RowsTask[] {
  const groups = headGroups(problem);
  const tiles = Math.ceil(problem.Sq / rows);
  const tasks: RowsTask[] = [];
  let left = groups * tiles;
  for (let group = 0; group < groups; group++) {
    const heads = headsOfGroup(problem, group);
    for (let to = tiles; to > 0; ) {
      // Half, because under a causal mask the last rows of a head see up to twice as many keys as the average
      // row.
      const from = Math.max(0, to - Math.ceil(left / (2 * threads)));
      tasks.push({ ...heads, from: from * rows, to: to * rows });
      left -= to - from;
      to = from;
    }
  }
  return tasks;
}

/**
 * The number of groups of query heads, over all sequences, that share no head of k or v with another group; 0
 * without queries.
 */
export function headGroups(problem: AttentionProblem): number {
  return problem.Sq === 0 ? 0 : (problem.B * problem.Hq) / headsThatShare(problem);
}

function headsOfGroup(problem: AttentionProblem, group: number): HeadsTask {
  const count = headsThatShare(problem);
  const first = (group * count) % problem.Hq;
  return { group, b: Math.floor((group * count) / problem.Hq), first, end: first + count };
}

/** The smallest number of neighbouring query heads that share no head of k or v with others. */
export function headsThatShare({ Hq, Hk, Hv }: AttentionProblem): number {
  return leastCommonMultiple(Hq / Hk, Hq / Hv);
}

/** The keys in some tiles of some heads. */
export interface KeysTask extends HeadsTask, TileRange {
  /** Where the task's part of dq goes if other tasks have the other keys of these heads; else null. */
  readonly part: PartOfDq | null;
}

/** One of the neighbouring slots `first` ≤ slot < `end` for the parts of dq of a group of heads. */
export interface PartOfDq {
  readonly slot: number;
  readonly first: number;
  readonly end: number;
}

export interface BackwardTasks {
  readonly tasks: readonly KeysTask[];
  /** The keys of a head in sections. The sections' sums of dq are added up in order. */
  readonly sections: readonly TileRange[];
  /** The number of slots for parts of dq. */
  readonly slots: number;
  /** The number of keys of the largest task. */
  readonly keys: number;
}

/**
 * Divides backward into tasks of heads that share keys and values. The heads that remain when each thread has
 * had the same number, or the last head, are cut so that threads end at about the same time: into a first
 * task of some sections of their keys, at most half a thread's share of the remaining work, and one task for
 * each other section. Sections depend only on the problem, so the way heads are cut does not change any bit.
 */
export function backwardTasks(
  problem: BackwardProblem,
  { columns }: TileSize,
  threads: number,
): BackwardTasks {
  const { forward } = problem;
  const groups = headGroups(forward);
  const tiles = Math.ceil(forward.Skv / columns);
  const sections = keySections(forward, tiles);
  const whole = threads === 1 ? groups : groups - Math.max(1, groups % threads);
  const uncut = cut(sections, tiles);
  const tasks: KeysTask[] = [];
  let slots = 0;
  for (let group = 0; group < groups; group++) {
    const share = Math.ceil(((groups - group) * tiles) / (2 * threads));
    const ranges = group < whole ? uncut : cut(sections, share);
    const heads = headsOfGroup(forward, group);
    const end = slots + ranges.length;
    ranges.forEach(({ firstTile, endTile }, n) => {
      const part = ranges.length === 1 ? null : { slot: slots + n, first: slots, end };
      tasks.push({ ...heads, firstTile, endTile, part });
    });
    if (ranges.length > 1) slots = end;
  }
  const largest = tasks.reduce((most, { firstTile, endTile }) => Math.max(most, endTile - firstTile), 0);
  return { tasks, sections, slots, keys: largest * columns };
}

/**
 * Sections of a quarter of the remaining tiles, so that the last sections are small, but not so small that
 * loading the queries for each takes long.
 */
function keySections(problem: AttentionProblem, tiles: number): TileRange[] {
  if (hasSumsOfScores(problem)) return [{ firstTile: 0, endTile: tiles }];
  const least = Math.ceil(tiles / 16);
  const sections: TileRange[] = [];
  for (let firstTile = 0; firstTile < tiles; ) {
    const size = Math.max(least, Math.ceil((tiles - firstTile) / 4));
    const endTile = Math.min(firstTile + size, tiles);
    sections.push({ firstTile, endTile });
    firstTile = endTile;
  }
  return sections;
}

/**
 * Sections as tasks of at most `share` tiles, or of one section if it is larger; only sections at the start
 * are joined.
 */
function cut(sections: readonly TileRange[], share: number): TileRange[] {
  const joined = Math.max(1, sections.filter(({ endTile }) => endTile <= share).length);
  const endTile = sections[joined - 1]?.endTile ?? 0;
  return [{ firstTile: 0, endTile }, ...sections.slice(joined)];
}

/**
 * Whether a problem may have gradients that are sums over the keys of a head, which one task computes in one
 * order. This does not depend on the wanted gradients, so that each has the same bits alone and with the
 * others.
 */
function hasSumsOfScores({ bias, alibi, scoreMod, fp8 }: AttentionProblem): boolean {
  return bias !== null || alibi || scoreMod !== null || fp8 !== null;
}

/** Multiplications and additions below which waking threads takes longer than they save. */
export const WORTH_THREADS = 3e7;

/** The multiplications of a forward pass. */
export function forwardSize({ B, Hq, Sq, Skv, Dqk, Dv }: AttentionProblem): number {
  return B * Hq * Sq * Skv * (Dqk + Dv);
}

/**
 * The multiplications of a backward pass that threads can share; 0 if a wanted gradient is a sum over several
 * tasks, which one thread must add in one order.
 */
export function sharedBackward({ forward, gradients }: BackwardProblem): number {
  const { B, Hq, bias, captures } = forward;
  const extent = (d: number): number => bias?.source.at(d) ?? 1;
  const hasOneTaskEach = (B === 1 || extent(-4) > 1) && (headsThatShare(forward) === Hq || extent(-3) > 1);
  const sumsBias = gradients.includes('dbias') && !hasOneTaskEach;
  const sumsCaptures =
    forward.scoreMod !== null &&
    Object.values(captures).some(({ dtype }) => dtypeInfo[dtype].kind === 'float');
  return sumsBias || sumsCaptures ? 0 : 2.5 * forwardSize(forward);
}

function leastCommonMultiple(a: number, b: number): number {
  let n = a;
  while (n % b !== 0) n += a;
  return n;
}

/** Assigns tasks to threads: each call returns the index of the next task. */
export type Claim = () => number;

/** Claims all tasks, one after the other. */
export function inOrder(): Claim {
  let n = 0;
  return () => n++;
}
