import type { InstructionDef, Machine, OperandKind, Region } from '../machine.ts';
import { formatNumber, scalarInstructions } from '../softmax/softmax-machine.ts';

/** The value of a register or a cell: a vector, or a number as a vector of one. */
export type Vector = readonly number[];

/** Arrays in DRAM by name; each has one vector per index. The empty arrays of `cells` are for results. */
export interface Arrays {
  readonly given: Readonly<Record<string, readonly Vector[]>>;
  /** Arrays that only the program fills, with their lengths. */
  readonly results: Readonly<Record<string, number>>;
}

const source: OperandKind = { kind: 'source' };
const target: OperandKind = { kind: 'target' };

const f32 = (values: Vector): Vector => values.map(Math.fround);
const nothing: Vector = [Number.NaN];

/**
 * Works component by component; a number is combined with every component. Vectors of different sizes give
 * NaN.
 */
function elementwise(apply: (a: number, b: number) => number, a: Vector, b: Vector): Vector {
  const length = Math.max(a.length, b.length);
  const fits = (x: Vector): boolean => x.length === 1 || x.length === length;
  if (!fits(a) || !fits(b)) return nothing;
  const at = (x: Vector, c: number): number => (x.length === 1 ? x[0] : x[c]) ?? Number.NaN;
  return Array.from({ length }, (_, c) => apply(at(a, c), at(b, c)));
}

/** The instructions of the softmax machine, on vectors. */
const lifted: readonly InstructionDef<Vector>[] = scalarInstructions.map(({ apply, ...rest }) => ({
  ...rest,
  apply: ([a = nothing, b = a]) => elementwise((x, y) => apply([x, y]), a, b),
}));

const dot: InstructionDef<Vector> = {
  name: 'DOT',
  signature: ['Ra', 'Rb', 'Rd'],
  operands: [source, source, target],
  meaning: 'Rd = Σ Ra × Rb',
  apply: ([a = nothing, b = nothing]) =>
    a.length === b.length
      ? [a.reduce((sum, x, c) => Math.fround(sum + Math.fround(x * (b[c] ?? Number.NaN))), 0)]
      : nothing,
};

/**
 * The machine for attention: the instructions of the softmax machine, on numbers and on small vectors, and a
 * dot product. All arithmetic is in f32.
 * @param n the value of `n` in a program.
 */
export function attentionMachine(registers: number, n: number, { given, results }: Arrays): Machine<Vector> {
  const filled = Object.entries(given).map(
    ([name, cells]): Region<Vector> => ({
      name,
      shape: [cells.length],
      initial: ([i = 0]) => f32(cells[i] ?? nothing),
    }),
  );
  const empty = Object.entries(results).map(
    ([name, length]): Region<Vector> => ({ name, shape: [length], initial: () => undefined }),
  );
  return {
    id: 'attention',
    n,
    registers: Array.from({ length: registers }, (_, i) => `${i === 0 ? 'R' : 'r'}${i}`),
    memory: [...filled, ...empty],
    format: formatVector,
    instructions: [...lifted, dot],
  };
}

/** A number as itself, a vector in parentheses. */
export function formatVector(values: Vector): string {
  const numbers = values.map(formatNumber);
  return numbers.length === 1 ? (numbers[0] ?? '') : `(${numbers.join(', ')})`;
}
