import type { InstructionDef, Machine, OperandKind } from '../machine.ts';

const source: OperandKind = { kind: 'source' };
const target: OperandKind = { kind: 'target' };

/** Instructions between registers: their results, in f32. */
const arithmetic: readonly (readonly [
  name: string,
  meaning: string,
  apply: (a: number, b: number) => number,
])[] = [
  ['MAX', 'max(Ra, Rb)', Math.max],
  ['SUB', 'Ra − Rb', (a, b) => a - b],
  ['ADD', 'Ra + Rb', (a, b) => a + b],
  ['MUL', 'Ra × Rb', (a, b) => a * b],
  ['DIV', 'Ra ÷ Rb', (a, b) => a / b],
];

const binary: readonly InstructionDef<number>[] = arithmetic.map(([name, meaning, apply]) => ({
  name,
  signature: ['Ra', 'Rb', 'Rd'],
  operands: [source, source, target],
  meaning: `Rd = ${meaning}`,
  apply: ([a = Number.NaN, b = Number.NaN]) => Math.fround(apply(a, b)),
}));

const copy = ([value = Number.NaN]: readonly number[]): number => value;

/** The instructions of the machine for numbers: each takes one cycle and rounds to f32. */
export const scalarInstructions: readonly InstructionDef<number>[] = [
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
  ...binary,
  {
    name: 'EXP',
    signature: ['Ra', 'Rd'],
    operands: [source, target],
    meaning: 'Rd = exp(Ra)',
    apply: ([a = Number.NaN]) => Math.fround(Math.exp(a)),
  },
  { name: 'MOV', signature: ['Rs', 'Rd'], operands: [source, target], meaning: 'Rd = Rs', apply: copy },
];

/** The machine for softmax: x and out (n numbers each) in DRAM, an ALU, all arithmetic in f32. */
export function softmaxMachine(registers: number, x: readonly number[]): Machine<number> {
  const shape = [x.length];
  return {
    id: 'softmax',
    n: x.length,
    registers: Array.from({ length: registers }, (_, i) => `${i === 0 ? 'R' : 'r'}${i}`),
    memory: [
      { name: 'x', shape, initial: ([i = 0]) => Math.fround(x[i] ?? Number.NaN) },
      { name: 'out', shape, initial: () => undefined },
    ],
    format: formatNumber,
    instructions: scalarInstructions,
  };
}

/** Four significant digits; a number beyond f32 is ∞. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  return String(Number(value.toPrecision(4))).replace('-', '−');
}
