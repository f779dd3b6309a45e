import {
  type BinaryOp,
  type Expr,
  type LoadExpr,
  operands,
  type UnaryOp,
  type VariableName,
} from '@tilewise/core/expr';
import { LARGEST_F32 } from '../../../ir/tensor/dtype.ts';
import { ExportError } from './axes.ts';
import type { Dialect, ElementFunction } from './dialect.ts';

/** A Python expression. */
export interface PythonExpr {
  readonly code: string;
  /**
   * The precedence of the outermost operator. An operand of an operator that binds more tightly needs
   * parentheses.
   */
  readonly level: number;
  /** The value if it is a known number; an f32 is already rounded. */
  readonly value?: number;
  /** Whether the value is a share: the shares of the ranks with the same part add up to the actual value. */
  readonly isShare?: boolean;
}

/** Returns the Python expressions of the values that an expression reads. */
export interface PythonReader {
  readonly dialect: Dialect;
  /** The number of ranks that have the same part of the result, in Python. */
  readonly copies: string;
  load(e: LoadExpr, write: (index: Expr) => PythonExpr): PythonExpr;
  variable(name: VariableName): PythonExpr;
  /** Assigns an expression that is used several times to a name. */
  named(code: string): string;
}

/** The precedence of names and calls, and of products. */
export const ATOM = 20;
const POWER = 14;
const NEGATIVE = 13;
export const PRODUCT = 12;
const SUM = 11;
const AND = 9;
const OR = 7;
const COMPARISON = 6;

/** An expression that never needs parentheses. */
export function atom(code: string, isShare = false): PythonExpr {
  return { code, level: ATOM, ...(isShare && { isShare }) };
}

/** A number in Python. The library rounds it to f32, so the shortest decimal with the same f32 is enough. */
export function literal(value: number, type: Expr['type'] = 'f32'): PythonExpr {
  if (type === 'bool') return { code: value ? 'True' : 'False', level: ATOM, value };
  if (Number.isNaN(value)) return { code: 'math.nan', level: ATOM, value };
  if (!Number.isFinite(value)) {
    return { code: value > 0 ? 'math.inf' : '-math.inf', level: value > 0 ? ATOM : NEGATIVE, value };
  }
  const text = type === 'f32' ? shortest(value) : `${value}`;
  return { code: text, level: value < 0 || Object.is(value, -0) ? NEGATIVE : ATOM, value };
}

/**
 * The shortest decimal that rounds to the same f32, and is no larger than the largest f32: PyTorch refuses
 * larger numbers, even those that round to it.
 */
function shortest(value: number): string {
  const f32 = Math.fround(value);
  const digits = Array.from({ length: 9 }, (_, n) => Number(f32.toPrecision(n + 1)));
  const text = `${digits.find(x => Math.fround(x) === f32 && Math.abs(x) <= LARGEST_F32) ?? f32}`;
  const signed = Object.is(f32, -0) ? '-0' : text;
  return /[.e]/.test(signed) ? signed.replace('e+', 'e') : `${signed}.0`;
}

const elementFunctions: Partial<Record<UnaryOp, ElementFunction>> = {
  ...{ abs: 'abs', exp: 'exp', log: 'log', sqrt: 'sqrt', tanh: 'tanh', erf: 'erf', round: 'round' },
  ...{ sin: 'sin', cos: 'cos' },
};

const operators: Partial<Record<BinaryOp, readonly [string, number]>> = {
  ...{ add: ['+', SUM], sub: ['-', SUM], mul: ['*', PRODUCT], div: ['/', PRODUCT] },
  ...{ floorDiv: ['//', PRODUCT], mod: ['%', PRODUCT], and: ['&', AND], or: ['|', OR] },
  ...{ lt: ['<', COMPARISON], le: ['<=', COMPARISON], gt: ['>', COMPARISON] },
  ...{ ge: ['>=', COMPARISON], eq: ['==', COMPARISON], ne: ['!=', COMPARISON] },
};

/** The code of an expression as an operand of an operator with a precedence, in parentheses if necessary. */
export function within(e: PythonExpr, level: number): string {
  return e.level < level ? `(${e.code})` : e.code;
}

/** Whether an expression is short enough to be repeated. */
function isSmall(e: Expr): boolean {
  const isPlain = e.kind === 'load' && (e.index.length === 0 || e.name === 'coordinate');
  return e.kind === 'constant' || e.kind === 'variable' || isPlain;
}

/** Writes an elementwise expression as operations on tensors, which broadcast. */
export function pythonExpr(root: Expr, reader: PythonReader): PythonExpr {
  const { copies, dialect } = reader;
  const uses = new Map<Expr, number>();
  const count = (e: Expr): void => {
    const seen = uses.get(e) ?? 0;
    uses.set(e, seen + 1);
    if (seen === 0) for (const operand of operands(e)) count(operand);
  };
  count(root);
  const written = new Map<Expr, PythonExpr>();
  const write = (e: Expr): PythonExpr => {
    const known = written.get(e);
    if (known) return known;
    let own = translate(e);
    if ((uses.get(e) ?? 0) > 1 && !isSmall(e) && !/^\w+$/.test(own.code) && own.value === undefined) {
      own = atom(reader.named(own.code), own.isShare);
    }
    written.set(e, own);
    return own;
  };
  const translate = (e: Expr): PythonExpr => {
    switch (e.kind) {
      case 'constant':
        return literal(Number(e.value), e.type);
      case 'variable':
        return reader.variable(e.name);
      case 'load':
        return reader.load(e, write);
      case 'unary':
        return unary(e.op, write(e.a), e.type, dialect);
      case 'select':
        return select(write(e.condition), write(e.whenTrue), write(e.whenFalse), dialect);
      case 'binary': {
        const inner = sigmoidOf(e);
        return inner
          ? atom(dialect.element('sigmoid', within(write(inner), ATOM)))
          : binary(e, write(e.a), write(e.b), copies);
      }
    }
  };
  return write(root);
}

/** The argument x of a sigmoid 1 / (1 + e^(min(−x, limit))); null for any other expression. */
function sigmoidOf(e: Expr): Expr | null {
  const isOne = (x: Expr): boolean => x.kind === 'constant' && Number(x.value) === 1;
  if (e.kind !== 'binary' || e.op !== 'div' || !isOne(e.a)) return null;
  const sum = e.b;
  if (sum.kind !== 'binary' || sum.op !== 'add' || !isOne(sum.a)) return null;
  const power = sum.b;
  if (power.kind !== 'unary' || power.op !== 'exp') return null;
  const exponent = power.a.kind === 'binary' && power.a.op === 'min' ? power.a.a : power.a;
  return exponent.kind === 'unary' && exponent.op === 'neg' ? exponent.a : null;
}

function unary(op: UnaryOp, a: PythonExpr, type: Expr['type'], dialect: Dialect): PythonExpr {
  if (op === 'neg') {
    if (a.value !== undefined) return literal(-a.value, type);
    return { code: `-${within(a, NEGATIVE)}`, level: NEGATIVE, ...(a.isShare && { isShare: true }) };
  }
  if (op === 'toF32') {
    if (a.value !== undefined) return literal(a.value, 'f32');
    return atom(dialect.cast(within(a, ATOM), 'f32'), a.isShare);
  }
  refuseShare(a, op);
  if (op === 'not') {
    if (a.value !== undefined) return literal(a.value === 0 ? 1 : 0, 'bool');
    return { code: `~${within(a, NEGATIVE)}`, level: NEGATIVE };
  }
  const name = elementFunctions[op];
  if (!name) throw new ExportError(`computes '${op}', for which ${dialect.library} has no function`);
  return atom(dialect.element(name, a.value === undefined ? within(a, ATOM) : dialect.number(a.code)));
}

function binary(
  e: Extract<Expr, { kind: 'binary' }>,
  a: PythonExpr,
  b: PythonExpr,
  copies: string,
): PythonExpr {
  const { op, type } = e;
  if (a.value !== undefined && b.value !== undefined) {
    const folded = folds[op]?.(a.value, b.value);
    if (folded !== undefined) return literal(type === 'f32' ? Math.fround(folded) : folded, type);
  }
  const same = unchanged(op, a, b);
  if (same) return same;
  if (op === 'min' || op === 'max' || op === 'pow') {
    for (const operand of [a, b]) refuseShare(operand, op);
    if (op === 'pow') return { code: `${within(a, POWER + 1)} ** ${within(b, POWER)}`, level: POWER };
    const left = a.value === undefined ? [a, b] : [b, a];
    return atom(`${op === 'min' ? 'least' : 'greatest'}(${left.map(x => x.code).join(', ')})`);
  }
  const [sign, level] = operators[op] ?? ['', 0];
  const share = shareOf(op, a, b);
  const [x, y] = [share && !a.isShare && a, share && !b.isShare && b].map((whole, n) => {
    const own = n === 0 ? a : b;
    // A number that is not a share must count once in the sum over ranks, so each rank adds its part of it.
    return whole && (op === 'add' || op === 'sub')
      ? { code: `${within(whole, PRODUCT)} / ${copies}`, level: PRODUCT }
      : own;
  });
  // Python's operators are left-associative, and comparisons must not chain.
  const tighter = level === COMPARISON ? COMPARISON + 1 : level;
  return {
    code: `${within(x, tighter)} ${sign} ${within(y, level + 1)}`,
    level,
    ...(share && { isShare: true }),
  };
}

/**
 * Whether the result is a share: the sum of shares, or a share times or divided by a value that is not a
 * share.
 */
function shareOf(op: BinaryOp, a: PythonExpr, b: PythonExpr): boolean {
  if (!a.isShare && !b.isShare) return false;
  if (op === 'add' || op === 'sub') return true;
  if (op === 'mul' && !(a.isShare && b.isShare)) return true;
  if (op === 'div' && !b.isShare) return true;
  throw new ExportError(`computes '${op}' of a sum over ranks, which only the sum of all ranks has`);
}

function refuseShare(e: PythonExpr, op: string): void {
  if (e.isShare)
    throw new ExportError(`computes '${op}' of a sum over ranks, which only the sum of all ranks has`);
}

/** Simplifies x + 0, x − 0, x·1, x / 1, and x with a known boolean; null for other operations. */
function unchanged(op: BinaryOp, a: PythonExpr, b: PythonExpr): PythonExpr | null {
  if ((op === 'add' || op === 'sub') && b.value === 0) return a;
  if (op === 'add' && a.value === 0) return b;
  if (op === 'and' || op === 'or') {
    const [known, other] = a.value === undefined ? [b, a] : [a, b];
    if (known.value !== undefined) return (known.value !== 0) === (op === 'and') ? other : known;
  }
  if ((op === 'mul' || op === 'div') && b.value === 1) return a;
  return op === 'mul' && a.value === 1 ? b : null;
}

/** The operations that are folded if both operands are known numbers. */
const folds: Partial<Record<BinaryOp, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  min: Math.min,
  max: Math.max,
  lt: (a, b) => Number(a < b),
  le: (a, b) => Number(a <= b),
  gt: (a, b) => Number(a > b),
  ge: (a, b) => Number(a >= b),
  eq: (a, b) => Number(a === b),
  ne: (a, b) => Number(a !== b),
};

function select(condition: PythonExpr, a: PythonExpr, b: PythonExpr, { module }: Dialect): PythonExpr {
  if (condition.value !== undefined) return condition.value ? a : b;
  for (const part of [condition, a, b]) refuseShare(part, 'select');
  return atom(`${module}.where(${condition.code}, ${a.code}, ${b.code})`);
}
