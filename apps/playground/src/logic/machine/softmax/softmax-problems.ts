import type { Criterion, HiddenInput, Problem } from '../check.ts';
import type { Run } from '../run.ts';
import { withinBudget } from '../traffic.ts';
import { formatNumber, softmaxMachine } from './softmax-machine.ts';

export type SoftmaxProblemId = 'safe-softmax' | 'online-softmax';

/** An exercise on the softmax machine. */
export type SoftmaxProblem = Problem<number, SoftmaxProblemId> & {
  /** The DRAM reads and writes that a solution for n numbers may make. */
  readonly reads: (n: number) => number;
  readonly writes: (n: number) => number;
};

/** softmax in f64, shifted by the maximum so that nothing overflows. */
export function softmax(x: readonly number[]): number[] {
  const m = Math.max(...x);
  const weights = x.map(value => Math.exp(value - m));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map(weight => weight / sum);
}

function inputs(run: Run<number>): number[] {
  return [...run.start.memory].filter(([cell]) => cell.startsWith('x')).map(([, value]) => value);
}

/** Whether each output is within a few f32 roundings of the true one. */
function right(run: Run<number>): Criterion {
  const { memory } = run.steps.at(-1)?.state ?? run.start;
  const demand = { kind: 'softmax' } as const;
  for (const [i, wanted] of softmax(inputs(run)).entries()) {
    const cell = `out[${i}]`;
    const value = memory.get(cell);
    if (value === undefined) return { demand, met: false, found: { kind: 'nothing', cell } };
    // `!(… <= …)` instead of `>`, so that NaN does not pass.
    if (!(Math.abs(value - wanted) <= 1e-5)) {
      const found = {
        kind: 'holds',
        cell,
        value: formatNumber(value),
        wanted: formatNumber(wanted),
      } as const;
      return { demand, met: false, found };
    }
  }
  return { demand, met: true };
}

/** The reads and writes that a solution may make for the given numbers. */
const traffic = (run: Run<number>, reads: (n: number) => number): Criterion[] => {
  const n = inputs(run).length;
  return withinBudget(run, { reads: reads(n), writes: n });
};

/**
 * Inputs to try a program on besides the visible one: a single number, large numbers (softmax without a
 * maximum overflows), and maxima that rise and fall (if they only fall, an online softmax that never rescales
 * is right).
 */
const hiddenInputs: readonly (readonly number[])[] = [
  [0.5],
  [101.5, 99, 103, 100],
  [-2, -1, 0, 1, 2],
  [4, 3, 2, 1, 0],
  [100, 101.5, 98.8, 103, 102.2, 99.6, 103.6, 101],
];

const hiddenOf = (registers: number): readonly HiddenInput<number>[] =>
  hiddenInputs.map(x => ({
    label: `x = (${x.map(formatNumber).join(', ')})`,
    machine: softmaxMachine(registers, x),
  }));

/** The three passes of safe softmax. */
const passes = [
  `; m = max x
LOAD x[0], r1
FOR i = 1 TO n-1
  LOAD x[i], R0
  MAX R0, r1, r1
END`,
  `; S = Σ exp(x − m)
LOAD x[0], R0
SUB R0, r1, R0
EXP R0, R0
MOV R0, r2
FOR i = 1 TO n-1
  LOAD x[i], R0
  SUB R0, r1, R0
  EXP R0, R0
  ADD r2, R0, r2
END`,
  `; exp(x − m) / S
FOR i = 0 TO n-1
  LOAD x[i], R0
  SUB R0, r1, R0
  EXP R0, R0
  DIV R0, r2, R0
  STORE R0, out[i]
END`,
] as const;

const online = `; m = x₀, s = 1
LOAD x[0], R0
MOV R0, r1
SUB R0, r1, R0
EXP R0, R0
MOV R0, r2
; m and s
FOR i = 1 TO n-1
  LOAD x[i], R0
  MOV r1, r3
  MAX r1, R0, r1
  SUB r3, r1, r3
  SUB R0, r1, R0
  EXP r3, r3
  EXP R0, R0
  MUL r2, r3, r2
  ADD r2, R0, r2
END
; exp(x − m) / s
FOR i = 0 TO n-1
  LOAD x[i], R0
  SUB R0, r1, R0
  EXP R0, R0
  DIV R0, r2, R0
  STORE R0, out[i]
END`;

const once = (n: number): number => n;
const twice = (n: number): number => 2 * n;
const thrice = (n: number): number => 3 * n;

export const softmaxProblems: readonly SoftmaxProblem[] = [
  {
    id: 'safe-softmax',
    registers: 3,
    solution: passes.join('\n'),
    reads: thrice,
    writes: once,
    criteria: run => [right(run), ...traffic(run, thrice)],
    hidden: hiddenOf(3),
  },
  {
    id: 'online-softmax',
    registers: 4,
    solution: online,
    reads: twice,
    writes: once,
    criteria: run => [right(run), ...traffic(run, twice)],
    hidden: hiddenOf(4),
  },
];

/** The step with the factor as a quotient: right on paper, but exp(m) overflows f32 from m ≈ 88.7 on. */
export const overflowingSolution: string = online.replace(
  `  MOV r1, r3
  MAX r1, R0, r1
  SUB r3, r1, r3
  SUB R0, r1, R0
  EXP r3, r3
  EXP R0, R0
  MUL r2, r3, r2
  ADD r2, R0, r2`,
  `  EXP r1, r3
  MUL r2, r3, r2
  EXP R0, r3
  ADD r2, r3, r2
  MAX r1, R0, r1
  EXP r1, r3
  DIV r2, r3, r2`,
);
