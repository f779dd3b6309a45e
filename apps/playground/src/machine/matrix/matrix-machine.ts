import type { Machine, OperandKind } from '../machine.ts';
import { add, formatPolynomial, multiply, type Polynomial, symbol } from './polynomial.ts';

const size = 2;
const source: OperandKind = { kind: 'source' };
const target: OperandKind = { kind: 'target' };
const first: OperandKind = { kind: 'fixed', register: 'R0' };
const second: OperandKind = { kind: 'fixed', register: 'R1' };
const orZero = (value: Polynomial | undefined): Polynomial => value ?? new Map();
const copy = ([value]: readonly Polynomial[]): Polynomial => orZero(value);

/** Register counts of the exercises. */
export const matrixRegisterCounts = [3, 4, 5, 6] as const;

/**
 * The smallest machine that multiplies matrices: A, B and C (2 × 2) in DRAM, a few registers, and a multiplier that reads R0
 * and R1 only; the other registers can hold partial sums.
 */
export function matrixMachine(registers: number): Machine<Polynomial> {
  const region = (name: string, filled: boolean): Machine<Polynomial>['memory'][number] => ({
    name,
    shape: [size, size],
    initial: ([i, j]) => (filled ? symbol(`${name}${i}${j}`) : undefined),
  });
  return {
    name: 'matrix machine',
    registers: Array.from({ length: registers }, (_, n) => `R${n}`),
    memory: [region('a', true), region('b', true), region('c', false)],
    format: formatPolynomial,
    instructions: [
      {
        name: 'LOAD',
        signature: ['src', 'Rd'],
        operands: [{ kind: 'load' }, target],
        meaning: 'Rd = DRAM[src]',
        apply: copy,
      },
      {
        name: 'STORE',
        signature: ['Rs', 'dst'],
        operands: [source, { kind: 'store' }],
        meaning: 'DRAM[dst] = Rs',
        apply: copy,
      },
      {
        name: 'MAC_Z',
        signature: ['R0', 'R1', 'Rd'],
        operands: [first, second, target],
        meaning: 'Rd = R0 × R1',
        apply: ([x, y]) => multiply(orZero(x), orZero(y)),
      },
      {
        name: 'MAC',
        signature: ['R0', 'R1', 'Ra', 'Rd'],
        operands: [first, second, source, target],
        meaning: 'Rd = R0 × R1 + Ra',
        apply: ([x, y, z]) => add(multiply(orZero(x), orZero(y)), orZero(z)),
      },
    ],
  };
}

/** c_ij = Σ_k a_ik · b_kj. */
export function productCell(i: number, j: number): Polynomial {
  let sum: Polynomial = new Map();
  for (let k = 0; k < size; k++) sum = add(sum, multiply(symbol(`a${i}${k}`), symbol(`b${k}${j}`)));
  return sum;
}
