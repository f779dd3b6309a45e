import { attentionNumbers, type Tokens } from '../../gradients/attention-numbers.ts';
import type { Machine } from '../machine.ts';
import { type Arrays, attentionMachine, type Vector } from './attention-machine.ts';

const values: readonly Vector[] = [
  [0.9, 0.1],
  [0.2, 0.8],
  [0.1, 0.3],
  [0.7, 0.6],
  [0.3, 0.2],
  [0.5, 0.9],
  [0.8, 0.4],
  [0.4, 0.7],
];

/** Scores whose maximum rises several times on the way; the visitor sees the first ones. */
const shown = [0.5, 1.9, -1.2, 3, 2.2, -0.4, 3.6, 1];

/**
 * Further scores to try a program on: a single one, large ones (without a maximum the exponential overflows),
 * and maxima that rise and fall.
 */
const hidden: readonly (readonly number[])[] = [
  [0.5],
  [101.5, 99, 103, 100],
  [-2, -1, 0, 1, 2],
  [4, 3, 2, 1, 0, -1],
];

/** Hidden lengths that are even, for programs that take two queries at a time. */
const evenHidden: readonly (readonly number[])[] = [
  [1, -1],
  [101.5, 99, 103, 100],
  [4, 3, 2, 1, 0, -1],
];

/**
 * Scores to try a program on, the visible ones first, by the number that their length must be a multiple of.
 */
export const scoreSets = (n: number, multipleOf = 1): readonly (readonly number[])[] => [
  shown.slice(0, n),
  ...(multipleOf === 2 ? evenHidden : hidden),
];

/** Tokens whose query 0 has exactly the given scores; other queries add an offset to each score. */
export function tokensOf(scores: readonly number[]): Tokens {
  const k = scores.map((score, j): Vector => [score / 2, 0.5 - 0.25 * (j % 3)]);
  const q = scores.map((_, i): Vector => [2, 0.5 * (i % 4)]);
  const v = scores.map((_, j) => values[j % values.length] ?? []);
  const dO = scores.map((_, i): Vector => [1 - 0.5 * (i % 3), 0.25 + 0.25 * (i % 4)]);
  return { q, k, v, dO };
}

/** The arrays of each exercise, computed from the scores of a query. */
export const arraysOf = {
  stream: (x: readonly number[]): Arrays => ({
    given: { x: x.map(score => [score]), v: tokensOf(x).v },
    results: { o: 1 },
  }),
  /** The states of tiles of two keys each. */
  merge: (x: readonly number[]): Arrays => {
    const { v } = tokensOf(x);
    const states = x.map((score, t) => {
      const other = score - 0.5 - 0.25 * t;
      const weight = Math.exp(other - score);
      const [a = [], b = []] = [v[t], v[(t + 1) % v.length]];
      return { m: [score], d: [1 + weight], num: a.map((value, c) => value + weight * (b[c] ?? 0)) };
    });
    return {
      given: {
        m: states.map(({ m }) => m),
        d: states.map(({ d }) => d),
        num: states.map(({ num }) => num),
      },
      results: { o: 1 },
    };
  },
  queries: (x: readonly number[]): Arrays => {
    const { q, k, v } = tokensOf(x);
    return { given: { q, k, v }, results: { o: x.length } };
  },
  keys: (x: readonly number[]): Arrays => {
    const { q, k, v } = tokensOf(x);
    const n = x.length;
    return { given: { q, k, v }, results: { m: n, d: n, num: n, o: n } };
  },
  row: (x: readonly number[]): Arrays => {
    const tokens = tokensOf(x);
    const { O, lse } = attentionNumbers(tokens);
    const [q = [], dO = [], o = []] = [tokens.q[0], tokens.dO[0], O[0]];
    return {
      given: { q: [q], o: [o], dO: [dO], lse: [[lse[0] ?? 0]], k: tokens.k, v: tokens.v },
      results: { dQ: 1 },
    };
  },
  column: (x: readonly number[]): Arrays => {
    const tokens = tokensOf(x);
    const { D, lse } = attentionNumbers(tokens);
    const [k = [], v = []] = [tokens.k[0], tokens.v[0]];
    return {
      given: {
        k: [k],
        v: [v],
        q: tokens.q,
        dO: tokens.dO,
        lse: lse.map(value => [value]),
        D: D.map(value => [value]),
      },
      results: { dK: 1, dV: 1 },
    };
  },
} as const;

/** A machine whose arrays are computed from the given scores. */
export const machineFor = (
  kind: keyof typeof arraysOf,
  registers: number,
  scores: readonly number[],
): Machine<Vector> => attentionMachine(registers, scores.length, arraysOf[kind](scores));
