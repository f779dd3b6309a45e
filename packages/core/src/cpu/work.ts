import type { AttentionProblem, BackwardProblem } from '../attention/problem.ts';
import type { TileSize } from './tile-size.ts';

/**
 * How a pass is cut into tasks that may run in any order and on any thread. The cut depends on the problem alone, and no two
 * tasks write the same number, so results have the same bits however many threads there are.
 */
export interface Work<Task> {
  readonly count: number;
  task(n: number): Task;
}

/** Query rows `from` ≤ i < `to` of one head. */
export interface RowsTask {
  readonly b: number;
  readonly h: number;
  readonly from: number;
  readonly to: number;
}

/** Enough for threads to end at about the same time. */
const FORWARD_TASKS = 32;

/** Forward in tasks of whole tiles of query rows. */
export function forwardWork({ B, Hq, Sq }: AttentionProblem, { rows }: TileSize): Work<RowsTask> {
  const tiles = Math.ceil(Sq / rows);
  const parts = Math.max(1, Math.min(Math.ceil(FORWARD_TASKS / (B * Hq)), tiles));
  const step = Math.max(1, Math.ceil(tiles / parts)) * rows;
  const perHead = Math.ceil(Sq / step);
  return {
    count: B * Hq * perHead,
    task(n) {
      const head = Math.floor(n / perHead);
      const from = (n % perHead) * step;
      return { b: Math.floor(head / Hq), h: head % Hq, from, to: from + step };
    },
  };
}

/** Query heads `first` ≤ h < `end` of a sequence, which share heads of k and v with nobody else, and keys of some tiles. */
export interface KeysTask {
  readonly b: number;
  readonly first: number;
  readonly end: number;
  /** Which part of the keys this is; each has a sum of dq of its own. */
  readonly part: number;
  readonly firstTile: number;
  readonly endTile: number;
}

export interface BackwardWork extends Work<KeysTask> {
  /** Parts that the keys of a head are cut into, and the keys of the largest one. */
  readonly parts: number;
  readonly keys: number;
}

const BACKWARD_TASKS = 8;
/** Keys below which loading the queries for each part would cost too much. */
const KEYS_PER_PART = 1024;

/** Backward in tasks of heads that share keys and values; where these are few, the keys are cut as well. */
export function backwardWork(problem: BackwardProblem, { columns }: TileSize): BackwardWork {
  const { B, Hq, Hk, Hv, Skv } = problem.forward;
  const heads = leastCommonMultiple(Hq / Hk, Hq / Hv);
  const groups = Hq / heads;
  const tiles = Math.ceil(Skv / columns);
  const most = hasSumsOfScores(problem.forward) ? 1 : Math.max(1, Math.floor(Skv / KEYS_PER_PART));
  const asked = Math.max(1, Math.min(Math.ceil(BACKWARD_TASKS / (B * groups)), most));
  const step = Math.max(1, Math.ceil(tiles / asked));
  const parts = Math.max(1, Math.ceil(tiles / step));
  return {
    parts,
    keys: step * columns,
    count: B * groups * parts,
    task(n) {
      const part = n % parts;
      const group = Math.floor(n / parts) % groups;
      const first = group * heads;
      const b = Math.floor(n / parts / groups);
      const tile = part * step;
      return { b, first, end: first + heads, part, firstTile: tile, endTile: Math.min(tile + step, tiles) };
    },
  };
}

/**
 * Whether a problem may have gradients that are sums over all of its tasks, which one thread makes in one order. It does not
 * depend on which gradients are wanted, so that each of them has the same bits alone and with the others.
 */
function hasSumsOfScores({ bias, alibi, scoreMod, fp8 }: AttentionProblem): boolean {
  return bias !== null || alibi || scoreMod !== null || fp8 !== null;
}

/** Multiplications of a forward pass that threads can share; 0 for FP8, whose largest magnitudes are of all tasks. */
export function sharedForward({ B, Hq, Sq, Skv, Dqk, Dv, fp8 }: AttentionProblem): number {
  return fp8 === null ? B * Hq * Sq * Skv * (Dqk + Dv) : 0;
}

/** Likewise for backward; 0 where a wanted gradient is a sum over all tasks. */
export function sharedBackward({ forward, gradients }: BackwardProblem): number {
  const sums = gradients.includes('dbias') || gradients.includes('dAlibi') || forward.scoreMod !== null;
  return sums ? 0 : 2.5 * sharedForward(forward);
}

function leastCommonMultiple(a: number, b: number): number {
  let n = a;
  while (n % b !== 0) n += a;
  return n;
}

/** Who does which task: gives the number of the next one at each call. */
export type Claim = () => number;

/** All tasks, one after the other. */
export function inOrder(): Claim {
  let n = 0;
  return () => n++;
}
