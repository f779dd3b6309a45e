/**
 * The kind of an instruction's operand. `fixed` operands are the registers that the compute unit is wired to.
 */
export type OperandKind =
  | { readonly kind: 'source' }
  | { readonly kind: 'target' }
  | { readonly kind: 'fixed'; readonly register: string }
  | { readonly kind: 'load' }
  | { readonly kind: 'store' };

/** An instruction of a machine. Each takes one cycle. */
export interface InstructionDef<V> {
  readonly name: string;
  /** The names of the operands in the machine's table, in order. */
  readonly signature: readonly string[];
  readonly operands: readonly OperandKind[];
  /** The meaning of the instruction, for people: `Rd = R0 × R1 + Ra`. */
  readonly meaning: string;
  /** The result, from the values of the operands that are read, in order. */
  readonly apply: (values: readonly V[]) => V;
}

/** An array in DRAM. */
export interface Region<V> {
  readonly name: string;
  readonly shape: readonly number[];
  /** The value of a cell before the program runs; undefined for cells that only a program fills. */
  readonly initial: (index: readonly number[]) => V | undefined;
}

/** A toy machine: DRAM, a register file, and a compute unit that works on registers alone. */
export interface Machine<V> {
  readonly id: 'matrix' | 'softmax' | 'attention';
  readonly registers: readonly string[];
  readonly memory: readonly Region<V>[];
  readonly instructions: readonly InstructionDef<V>[];
  /** A value as text. */
  readonly format: (value: V) => string;
  /** The value of `n` in a program, on machines whose arrays have a length. */
  readonly n?: number;
}

const subscripts = '₀₁₂₃₄₅₆₇₈₉';

/** Digits as subscripts, as in formulas. */
export function subscript(text: string): string {
  return text.replace(/\d/g, digit => subscripts[Number(digit)] ?? digit);
}

/** A cell of DRAM, as formulas write it: `c₀₁`, `o₃`. */
export function cellLabel(region: string, index: readonly number[]): string {
  return `${region[0]}${subscript(index.join(''))}`;
}

/** A cell of DRAM, as programs write it. */
export function cellName(region: string, index: readonly number[]): string {
  return `${region}${index.map(i => `[${i}]`).join('')}`;
}

/** Every index of an array, in row-major order. */
export function indices(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>(
    (all, extent) => all.flatMap(lead => Array.from({ length: extent }, (_, i) => [...lead, i])),
    [[]],
  );
}
