import type { Machine, OperandKind } from '../machine.ts';
import { add, formatPolynomial, multiply, type Polynomial, symbol } from './polynomial.ts';

const size = 2;
const source: OperandKind = { kind: 'source' };
const target: OperandKind = { kind: 'target' };
const orZero = (value: Polynomial | undefined): Polynomial => value ?? new Map();
const copy = ([value]: readonly Polynomial[]): Polynomial => orZero(value);

/** The numbers of registers in the exercises. */
export const matrixRegisterCounts = [3, 4, 5, 6] as const;

/** Which registers the multiplier reads: R0 and R1 only, or any two. */
export type Wiring = 'fixed' | 'any';

interface Multiplier {
  readonly operands: readonly [OperandKind, OperandKind];
  readonly names: readonly [string, string];
  /** The name of the operand that is added to the product. */
  readonly addend: string;
}

const multipliers: Readonly<Record<Wiring, Multiplier>> = {
  fixed: {
    operands: [
      { kind: 'fixed', register: 'R0' },
      { kind: 'fixed', register: 'R1' },
    ],
    names: ['R0', 'R1'],
    addend: 'Ra',
  },
  any: { operands: [source, source], names: ['Ra', 'Rb'], addend: 'Rc' },
};

/**
 * The smallest machine that multiplies matrices: A, B and C (2 × 2) in DRAM, a few registers, and a
 * multiplier that reads R0 and R1 only; the other registers can hold partial sums. With the wiring `any`, the
 * multiplier reads any two registers.
 */
export function matrixMachine(registers: number, wiring: Wiring = 'fixed'): Machine<Polynomial> {
  const { operands, names, addend } = multipliers[wiring];
  const product = names.join(' × ');
  const region = (name: string, filled: boolean): Machine<Polynomial>['memory'][number] => ({
    name,
    shape: [size, size],
    initial: ([i, j]) => (filled ? symbol(`${name}${i}${j}`) : undefined),
  });
  return {
    id: 'matrix',
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
        signature: [...names, 'Rd'],
        operands: [...operands, target],
        meaning: `Rd = ${product}`,
        apply: ([x, y]) => multiply(orZero(x), orZero(y)),
      },
      {
        name: 'MAC',
        signature: [...names, addend, 'Rd'],
        operands: [...operands, source, target],
        meaning: `Rd = ${product} + ${addend}`,
        apply: ([x, y, z]) => add(multiply(orZero(x), orZero(y)), orZero(z)),
      },
    ],
  };
}

/** Which registers the multiplier of a matrix machine reads. */
export function wiringOf({ instructions }: Machine<Polynomial>): Wiring {
  const [read] = instructions.find(({ name }) => name === 'MAC_Z')?.operands ?? [];
  return read?.kind === 'fixed' ? 'fixed' : 'any';
}

/** c_ij = Σ_k a_ik · b_kj. */
export function productCell(i: number, j: number): Polynomial {
  let sum: Polynomial = new Map();
  for (let k = 0; k < size; k++) sum = add(sum, multiply(symbol(`a${i}${k}`), symbol(`b${k}${j}`)));
  return sum;
}
