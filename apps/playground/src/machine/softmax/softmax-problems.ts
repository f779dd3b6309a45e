import type { Criterion, Problem } from '../check.ts';
import type { Run } from '../run.ts';

/** The exercises on the softmax machine, each with the number of registers that its machine has. */
export type SoftmaxProblem = Problem<number> & {
  readonly registers: number;
  /** DRAM reads and writes of a solution, for n numbers. */
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

/** Each output within a few roundings of f32 of the true one. */
function right(run: Run<number>): Criterion {
  const wanted = softmax(inputs(run));
  const { memory } = run.steps.at(-1)?.state ?? run.start;
  const label = 'out = softmax(x)';
  for (const [i, expected] of wanted.entries()) {
    const value = memory.get(`out[${i}]`);
    if (value === undefined) return { label, met: false, found: `nothing is stored in out[${i}]` };
    // Not written with <: NaN must not pass.
    if (!(Math.abs(value - expected) <= 1e-5)) {
      return { label, met: false, found: `out[${i}] holds ${value}, not ${expected.toPrecision(4)}` };
    }
  }
  return { label, met: true };
}

function traffic(run: Run<number>, reads: (n: number) => number, writes: (n: number) => number): Criterion[] {
  const n = inputs(run).length;
  const { loads = 0, stores = 0 } = run.steps.at(-1)?.counts ?? {};
  const atMost = (what: string, most: number, count: number): Criterion => ({
    label: `at most ${most} ${what}`,
    met: count <= most,
    ...(count <= most ? {} : { found: `there are ${count}` }),
  });
  return [atMost('reads of DRAM', reads(n), loads), atMost('writes to DRAM', writes(n), stores)];
}

const safe = `; pass 1: the maximum
LOAD x[0], r1
FOR i = 1 TO n-1
  LOAD x[i], R0
  MAX R0, r1, r1
END
; pass 2: the sum of exponents
LOAD x[0], R0
SUB R0, r1, R0
EXP R0, R0
MOV R0, r2
FOR i = 1 TO n-1
  LOAD x[i], R0
  SUB R0, r1, R0
  EXP R0, R0
  ADD r2, R0, r2
END
; pass 3: normalise
FOR i = 0 TO n-1
  LOAD x[i], R0
  SUB R0, r1, R0
  EXP R0, R0
  DIV R0, r2, R0
  STORE R0, out[i]
END`;

const online = `; the first number
LOAD x[0], R0
MOV R0, r1
SUB R0, r1, R0
EXP R0, R0
MOV R0, r2
; pass 1: maximum and sum together
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
; pass 2: normalise
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
    title: 'Safe softmax',
    registers: 3,
    task: 'Compute softmax with the maximum subtracted first. Three registers, three passes over x: 3n reads, n writes.',
    hints: [
      'Pass 1 keeps the maximum so far in r1 and needs one more register for the number it looks at.',
      'Pass 2 adds exp(x − m) up in r2. The exponent is used at once and never written to DRAM.',
      'Pass 3 computes each exponent again: to store them would cost n writes and n reads more.',
    ],
    solution: safe,
    reads: thrice,
    writes: once,
    criteria: run => [right(run), ...traffic(run, thrice, once)],
  },
  {
    id: 'online-softmax',
    title: 'Online softmax',
    registers: 4,
    task: 'One more register: find the maximum and the sum in the same pass. Two passes, 2n reads, n writes.',
    hints: [
      "When a larger number comes, the sum so far was measured against the old maximum: multiply it by exp(m − m').",
      'Both the old and the new maximum are needed for that: save the old one in r3 before MAX.',
      'Subtract before EXP: exp(m) alone overflows, exp(m − m′) is at most 1.',
    ],
    solution: online,
    reads: twice,
    writes: once,
    criteria: run => [right(run), ...traffic(run, twice, once)],
  },
];

/** The same step with the factor as a quotient: right on paper, but exp(m) overflows f32 from m ≈ 88.7 on. */
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
