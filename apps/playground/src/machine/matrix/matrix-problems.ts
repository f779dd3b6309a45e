import type { Criterion, Problem } from '../check.ts';
import { cellName } from '../machine.ts';
import type { Run } from '../run.ts';
import { productCell } from './matrix-machine.ts';
import { equal, formatPolynomial, type Polynomial } from './polynomial.ts';

/**
 * Fewest cycles in which all four elements can be computed, by number of registers: found by exhaustive search over all
 * programs of the machine.
 */
export const fewestCycles: Readonly<Record<number, number>> = { 3: 25, 4: 23, 5: 23, 6: 22 };

function stored(run: Run<Polynomial>, i: number, j: number): Criterion {
  const cell = cellName('c', [i, j]);
  const value = (run.steps.at(-1)?.state ?? run.start).memory.get(cell);
  const wanted = productCell(i, j);
  const met = value !== undefined && equal(value, wanted);
  const found = value === undefined ? 'nothing is stored there' : `it holds ${formatPolynomial(value)}`;
  return { label: `${cell} = ${formatPolynomial(wanted)}`, met, ...(met ? {} : { found }) };
}

function within(run: Run<Polynomial>, cycles: number): Criterion {
  const taken = run.steps.at(-1)?.counts.cycles ?? 0;
  const met = taken <= cycles;
  return { label: `at most ${cycles} cycles`, met, ...(met ? {} : { found: `it takes ${taken}` }) };
}

const allStored = (run: Run<Polynomial>): Criterion[] =>
  [0, 1].flatMap(i => [0, 1].map(j => stored(run, i, j)));

const oneElement = `LOAD a[0][0], R0
LOAD b[0][0], R1
MAC_Z R0, R1, R2
LOAD a[0][1], R0
LOAD b[1][0], R1
MAC R0, R1, R2, R2
STORE R2, c[0][0]`;

/** Elements in the order c00, c01, c11, c10; each next one shares an operand with the last. */
const innerProduct = `; c00
LOAD a[0][0], R0
LOAD b[0][0], R1
MAC_Z R0, R1, R2
LOAD a[0][1], R0
LOAD b[1][0], R1
MAC R0, R1, R2, R2
STORE R2, c[0][0]
; c01: a[0][1] is still in R0
LOAD b[1][1], R1
MAC_Z R0, R1, R2
LOAD a[0][0], R0
LOAD b[0][1], R1
MAC R0, R1, R2, R2
STORE R2, c[0][1]
; c11: b[0][1] is still in R1
LOAD a[1][0], R0
MAC_Z R0, R1, R2
LOAD a[1][1], R0
LOAD b[1][1], R1
MAC R0, R1, R2, R2
STORE R2, c[1][1]
; c10: a[1][1] is still in R0
LOAD b[1][0], R1
MAC_Z R0, R1, R2
LOAD a[1][0], R0
LOAD b[0][0], R1
MAC R0, R1, R2, R2
STORE R2, c[1][0]`;

const outerProduct = `; k = 0
LOAD a[0][0], R0
LOAD b[0][0], R1
MAC_Z R0, R1, R2
LOAD b[0][1], R1
MAC_Z R0, R1, R3
LOAD a[1][0], R0
MAC_Z R0, R1, R5
LOAD b[0][0], R1
MAC_Z R0, R1, R4
; k = 1
LOAD a[0][1], R0
LOAD b[1][0], R1
MAC R0, R1, R2, R2
LOAD b[1][1], R1
MAC R0, R1, R3, R3
LOAD a[1][1], R0
MAC R0, R1, R5, R5
LOAD b[1][0], R1
MAC R0, R1, R4, R4
STORE R2, c[0][0]
STORE R3, c[0][1]
STORE R4, c[1][0]
STORE R5, c[1][1]`;

/** The exercises on the matrix machine, each with the number of registers that its machine has. */
export const matrixProblems: readonly (Problem<Polynomial> & { readonly registers: number })[] = [
  {
    id: 'one-element',
    title: 'One element',
    registers: 3,
    task: 'Compute c₀₀ = a₀₀b₀₀ + a₀₁b₁₀ and store it. Three registers: two feed the multiplier, one holds the sum.',
    hints: [
      'The first product has nothing to be added to: MAC_Z. The second adds to it: MAC.',
      'Loading the next operands overwrites R0 and R1, so the sum must wait in R2.',
      'Four loads, two multiplications and one store make seven cycles.',
    ],
    solution: oneElement,
    criteria: run => [stored(run, 0, 0), within(run, 7)],
  },
  {
    id: 'inner-product',
    title: 'The whole matrix, element by element',
    registers: 3,
    task: 'Compute all four elements. Four times seven is 28 cycles, but neighbours share operands: do it in 25.',
    hints: [
      'When an element is done, R0 and R1 still hold its last operands. Which element could begin with one of them?',
      'The order of the two products of an element is yours: start with what is already there.',
      'Walk c₀₀ → c₀₁ → c₁₁ → c₁₀: each step saves one load.',
    ],
    solution: innerProduct,
    criteria: run => [...allStored(run), within(run, 25)],
  },
  {
    id: 'outer-product',
    title: 'More registers: the outer product',
    registers: 6,
    task: 'With six registers all four sums can be kept at once. Load one column of A and one row of B at a time: 22 cycles.',
    hints: [
      'For k = 0 load a₀₀, a₁₀, b₀₀ and b₀₁ and use every pair: four MAC_Z into R2 to R5.',
      'Change one operand at a time, in a circle: c₀₀, c₀₁, c₁₁, c₁₀. Each step then needs one load.',
      'Then k = 1 with MAC into the same four registers, and four stores at the end.',
    ],
    solution: outerProduct,
    criteria: run => [...allStored(run), within(run, 22)],
  },
];
