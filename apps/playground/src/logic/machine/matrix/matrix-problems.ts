import type { Criterion, Problem } from '../check.ts';
import { cellName, type Machine } from '../machine.ts';
import type { Run } from '../run.ts';
import { productCell, type Wiring, wiringOf } from './matrix-machine.ts';
import { equal, formatPolynomial, type Polynomial } from './polynomial.ts';

/**
 * The fewest cycles in which all four elements can be computed, by the multiplier's wiring and the number of
 * registers. They were found by an exhaustive search over all programs of the machine, except for six
 * registers with any wiring. There, 20 is a lower bound that a program reaches: eight loads, eight products
 * and four stores.
 */
export const fewestCycles: Readonly<Record<Wiring, Readonly<Record<number, number>>>> = {
  fixed: { 3: 25, 4: 23, 5: 23, 6: 22 },
  any: { 3: 25, 4: 22, 5: 21, 6: 20 },
};

/** The fewest cycles that a machine needs for all four elements. */
export function fewestFor(machine: Machine<Polynomial>): number {
  return fewestCycles[wiringOf(machine)][machine.registers.length] ?? Number.POSITIVE_INFINITY;
}

function stored(run: Run<Polynomial>, i: number, j: number): Criterion {
  const cell = cellName('c', [i, j]);
  const value = (run.steps.at(-1)?.state ?? run.start).memory.get(cell);
  const wanted = productCell(i, j);
  const demand = { kind: 'stored', cell, value: formatPolynomial(wanted) } as const;
  if (value === undefined) return { demand, met: false, found: { kind: 'nothing', cell } };
  if (equal(value, wanted)) return { demand, met: true };
  const found = { kind: 'holds', cell, value: formatPolynomial(value), wanted: demand.value } as const;
  return { demand, met: false, found };
}

/** A program that stores nothing meets no budget. */
function within(run: Run<Polynomial>, cycles: number): Criterion {
  const { cycles: count = 0, stores = 0 } = run.steps.at(-1)?.counts ?? {};
  return {
    demand: { kind: 'cycles', most: cycles },
    met: count <= cycles && stores > 0,
    ...(count <= cycles ? {} : { found: { kind: 'count', count } }),
  };
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

/** Elements in the order c00, c01, c11, c10; each shares an operand with the previous one. */
const innerProduct = `; c00
LOAD a[0][0], R0
LOAD b[0][0], R1
MAC_Z R0, R1, R2
LOAD a[0][1], R0
LOAD b[1][0], R1
MAC R0, R1, R2, R2
STORE R2, c[0][0]
; c01 (R0 = a01)
LOAD b[1][1], R1
MAC_Z R0, R1, R2
LOAD a[0][0], R0
LOAD b[0][1], R1
MAC R0, R1, R2, R2
STORE R2, c[0][1]
; c11 (R1 = b01)
LOAD a[1][0], R0
MAC_Z R0, R1, R2
LOAD a[1][1], R0
LOAD b[1][1], R1
MAC R0, R1, R2, R2
STORE R2, c[1][1]
; c10 (R0 = a11)
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

export type MatrixProblemId = 'one-element' | 'inner-product' | 'outer-product';

/** The exercises on the matrix machine. */
export const matrixProblems: readonly Problem<Polynomial, MatrixProblemId>[] = [
  {
    id: 'one-element',
    registers: 3,
    solution: oneElement,
    criteria: run => [stored(run, 0, 0), within(run, 7)],
  },
  {
    id: 'inner-product',
    registers: 3,
    solution: innerProduct,
    criteria: run => [...allStored(run), within(run, 25)],
  },
  {
    id: 'outer-product',
    registers: 6,
    solution: outerProduct,
    // With fewer than six registers, the goal is what these registers allow.
    criteria: run => [...allStored(run), within(run, Math.max(22, fewestFor(run.machine)))],
  },
];
