import { attentionNumbers, inner } from '../../gradients/attention-numbers.ts';
import type { HiddenInput, Problem } from '../check.ts';
import type { Machine } from '../machine.ts';
import type { Run } from '../run.ts';
import { type Budget, withinBudget } from '../traffic.ts';
import type { Vector } from './attention-machine.ts';
import { given, results } from './check-results.ts';
import { type arraysOf, machineFor, scoreSets } from './inputs.ts';
import * as solutions from './solutions.ts';

export type AttentionProblemId =
  | 'stream'
  | 'merge'
  | 'queries-outside'
  | 'keys-outside'
  | 'two-queries'
  | 'backward-row'
  | 'backward-column';

/** An exercise on the attention machine. n is the number of keys (and of queries), or of tiles in `merge`. */
export interface AttentionProblem extends Problem<Vector, AttentionProblemId> {
  /** The arrays in DRAM. */
  readonly arrays: keyof typeof arraysOf;
}

interface Exercise {
  readonly id: AttentionProblemId;
  readonly arrays: keyof typeof arraysOf;
  readonly registers: number;
  readonly solution: string;
  readonly multipleOf?: number;
  readonly formula: string;
  /** The expected results, from the values that were in DRAM before. */
  readonly wanted: (run: Run<Vector>) => Readonly<Record<string, readonly Vector[]>>;
  readonly budget: (n: number) => Budget;
}

/** Scores as the exercises on one query have them in DRAM. */
const numbers = (run: Run<Vector>, array: string): number[] =>
  given(run, array).map(([value = Number.NaN]) => value);

/** Σ_j w_j · v_j / Σ_j w_j. */
function mean(weights: readonly number[], v: readonly Vector[], sums: readonly number[] = weights): Vector {
  const total = sums.reduce((sum, w) => sum + w, 0);
  const [first = []] = v;
  return first.map((_, c) => weights.reduce((sum, w, j) => sum + w * (v[j]?.[c] ?? 0), 0) / total);
}

const outputs = (run: Run<Vector>): readonly Vector[] => {
  const [q, k, v] = [given(run, 'q'), given(run, 'k'), given(run, 'v')];
  return attentionNumbers({ q, k, v, dO: v }).O;
};

const exercises: readonly Exercise[] = [
  {
    id: 'stream',
    arrays: 'stream',
    registers: 5,
    solution: solutions.stream,
    formula: 'o = softmax(x) · v',
    wanted: run => {
      const x = numbers(run, 'x');
      const m = Math.max(...x);
      return {
        o: [
          mean(
            x.map(score => Math.exp(score - m)),
            given(run, 'v'),
          ),
        ],
      };
    },
    budget: n => ({ reads: 2 * n, writes: 1 }),
  },
  {
    id: 'merge',
    arrays: 'merge',
    registers: 5,
    solution: solutions.merge,
    formula: 'o = num′ / d′',
    wanted: run => {
      const [m, d] = [numbers(run, 'm'), numbers(run, 'd')];
      const most = Math.max(...m);
      const factors = m.map(value => Math.exp(value - most));
      const sums = factors.map((factor, t) => factor * (d[t] ?? 0));
      return { o: [mean(factors, given(run, 'num'), sums)] };
    },
    budget: n => ({ reads: 3 * n, writes: 1 }),
  },
  {
    id: 'queries-outside',
    arrays: 'queries',
    registers: 6,
    solution: solutions.queriesOutside,
    formula: 'o = softmax(q · kᵀ) · v',
    wanted: run => ({ o: outputs(run) }),
    budget: n => ({ reads: n + 2 * n * n, writes: n }),
  },
  {
    id: 'keys-outside',
    arrays: 'keys',
    registers: 7,
    solution: solutions.keysOutside,
    formula: 'o = softmax(q · kᵀ) · v',
    wanted: run => ({ o: outputs(run) }),
    budget: n => ({
      reads: 4 * n * n + n,
      writes: 3 * n * n + n,
      readsOf: { arrays: ['k', 'v'], most: 2 * n },
    }),
  },
  {
    id: 'two-queries',
    arrays: 'queries',
    registers: 12,
    solution: solutions.twoQueries,
    multipleOf: 2,
    formula: 'o = softmax(q · kᵀ) · v',
    wanted: run => ({ o: outputs(run) }),
    budget: n => ({ reads: n + n * n, writes: n }),
  },
  {
    id: 'backward-row',
    arrays: 'row',
    registers: 8,
    solution: solutions.backwardRow,
    formula: 'dQ = dS · k',
    wanted: run => {
      const [k, v] = [given(run, 'k'), given(run, 'v')];
      const [[q = []] = [], [dO = []] = [], [o = []] = []] = [
        given(run, 'q'),
        given(run, 'dO'),
        given(run, 'o'),
      ];
      const [lse = 0] = numbers(run, 'lse');
      const dS = k.map((key, j) => Math.exp(inner(q, key) - lse) * (inner(dO, v[j] ?? []) - inner(dO, o)));
      return { dQ: [mean(dS, k, [1])] };
    },
    budget: n => ({ reads: 2 * n + 4, writes: 1 }),
  },
  {
    id: 'backward-column',
    arrays: 'column',
    registers: 8,
    solution: solutions.backwardColumn,
    formula: 'dK = dSᵀ · q, dV = Pᵀ · dO',
    wanted: run => {
      const [q, dO] = [given(run, 'q'), given(run, 'dO')];
      const [lse, D] = [numbers(run, 'lse'), numbers(run, 'D')];
      const [[k = []] = [], [v = []] = []] = [given(run, 'k'), given(run, 'v')];
      const P = q.map((query, i) => Math.exp(inner(query, k) - (lse[i] ?? 0)));
      const dS = P.map((p, i) => p * (inner(dO[i] ?? [], v) - (D[i] ?? 0)));
      return { dK: [mean(dS, q, [1])], dV: [mean(P, dO, [1])] };
    },
    budget: n => ({ reads: 4 * n + 2, writes: 2 }),
  },
];

/** The scores that the visitor sees, and those on which a solution must be right as well. */
function hiddenInputs({ arrays, registers, multipleOf }: Exercise): readonly HiddenInput<Vector>[] {
  const [, ...hidden] = scoreSets(4, multipleOf);
  return hidden.map(scores => ({
    label: `n = ${scores.length}, x = (${scores.join(', ').replaceAll('-', '−')})`,
    machine: machineFor(arrays, registers, scores),
  }));
}

/** The exercises of the chapters on attention, loop orders and the backward pass. */
export const attentionProblems: readonly AttentionProblem[] = exercises.map(exercise => {
  const { id, arrays, registers, solution, multipleOf = 1, formula, wanted, budget } = exercise;
  return {
    id,
    arrays,
    registers,
    solution,
    multipleOf,
    criteria: run => [results(run, formula, wanted(run)), ...withinBudget(run, budget(run.machine.n ?? 0))],
    hidden: hiddenInputs(exercise),
  };
});

/** The machine of an exercise with n of the visible scores. */
export const visibleMachine = (problem: AttentionProblem, n: number): Machine<Vector> =>
  machineFor(problem.arrays, problem.registers, scoreSets(n)[0] ?? []);
