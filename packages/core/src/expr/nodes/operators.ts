import { roundHalfEven } from '../../tensor/dtype/round.ts';
import { erf } from './erf.ts';
import type { BinaryOp, ExprType, UnaryOp, VariableName } from './expr.ts';

const variableTypes: Readonly<Record<VariableName, ExprType>> = {
  score: 'f32',
  b: 'i32',
  h: 'i32',
  q: 'i32',
  kv: 'i32',
};

/** The types that an operator takes; both operands of a binary operator have one type. */
type Domain = 'f32' | 'i32' | 'number' | 'bool' | 'i32 or bool' | 'any type';

/** All that is known of an operator, but for its derivative. */
interface Operator<F> {
  readonly takes: Domain;
  /** `same`: the type of the operands. */
  readonly gives: ExprType | 'same';
  /** The operator on the host, in f64; a truth value is 0 or 1. */
  readonly host: F;
  /** The host's function for i32 operands where its result must wrap around; default: `host`. */
  readonly wraps?: F;
  /** The operator in WGSL: a symbol, or the name of a function. */
  readonly wgsl: string;
}

type Unary = (a: number) => number;
type Binary = (a: number, b: number) => number;

const unaryOperators: Readonly<Record<UnaryOp, Operator<Unary>>> = {
  neg: { takes: 'number', gives: 'same', host: a => -a, wraps: a => -a | 0, wgsl: '-' },
  abs: { takes: 'number', gives: 'same', host: Math.abs, wraps: a => Math.abs(a) | 0, wgsl: 'abs' },
  exp: { takes: 'f32', gives: 'f32', host: Math.exp, wgsl: 'exp' },
  log: { takes: 'f32', gives: 'f32', host: Math.log, wgsl: 'expr_log' },
  sqrt: { takes: 'f32', gives: 'f32', host: Math.sqrt, wgsl: 'sqrt' },
  tanh: { takes: 'f32', gives: 'f32', host: Math.tanh, wgsl: 'expr_tanh' },
  erf: { takes: 'f32', gives: 'f32', host: erf, wgsl: 'expr_erf' },
  round: { takes: 'f32', gives: 'f32', host: roundHalfEven, wgsl: 'round' },
  sin: { takes: 'f32', gives: 'f32', host: Math.sin, wgsl: 'expr_sin' },
  cos: { takes: 'f32', gives: 'f32', host: Math.cos, wgsl: 'expr_cos' },
  not: { takes: 'bool', gives: 'bool', host: a => 1 - a, wgsl: '!' },
  toF32: { takes: 'i32 or bool', gives: 'f32', host: a => a, wgsl: 'f32' },
};

const binaryOperators: Readonly<Record<BinaryOp, Operator<Binary>>> = {
  add: { takes: 'number', gives: 'same', host: (a, b) => a + b, wraps: (a, b) => (a + b) | 0, wgsl: '+' },
  sub: { takes: 'number', gives: 'same', host: (a, b) => a - b, wraps: (a, b) => (a - b) | 0, wgsl: '-' },
  // A product of two i32 does not fit in an f64's 53 bits.
  mul: { takes: 'number', gives: 'same', host: (a, b) => a * b, wraps: Math.imul, wgsl: '*' },
  div: { takes: 'f32', gives: 'f32', host: (a, b) => a / b, wgsl: '/' },
  // Division by zero is defined as in WGSL, so that host and device agree.
  floorDiv: {
    takes: 'i32',
    gives: 'i32',
    host: (a, b) => (b === 0 ? a : Math.floor(a / b) | 0),
    wgsl: 'expr_floor_div',
  },
  mod: {
    takes: 'i32',
    gives: 'i32',
    host: (a, b) => (b === 0 ? 0 : (a - b * Math.floor(a / b)) | 0),
    wgsl: 'expr_mod',
  },
  pow: { takes: 'f32', gives: 'f32', host: (a, b) => a ** b, wgsl: 'expr_pow' },
  min: { takes: 'number', gives: 'same', host: Math.min, wgsl: 'min' },
  max: { takes: 'number', gives: 'same', host: Math.max, wgsl: 'max' },
  lt: { takes: 'number', gives: 'bool', host: (a, b) => (a < b ? 1 : 0), wgsl: '<' },
  le: { takes: 'number', gives: 'bool', host: (a, b) => (a <= b ? 1 : 0), wgsl: '<=' },
  gt: { takes: 'number', gives: 'bool', host: (a, b) => (a > b ? 1 : 0), wgsl: '>' },
  ge: { takes: 'number', gives: 'bool', host: (a, b) => (a >= b ? 1 : 0), wgsl: '>=' },
  eq: { takes: 'any type', gives: 'bool', host: (a, b) => (a === b ? 1 : 0), wgsl: '==' },
  ne: { takes: 'any type', gives: 'bool', host: (a, b) => (a !== b ? 1 : 0), wgsl: '!=' },
  and: { takes: 'bool', gives: 'bool', host: (a, b) => a & b, wgsl: '&&' },
  or: { takes: 'bool', gives: 'bool', host: (a, b) => a | b, wgsl: '||' },
};

/** The row of a name, which may be anything. */
function row<R>(table: Readonly<Record<string, R>>, name: unknown): R | undefined {
  return typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The type of a variable; undefined for an unknown name. */
export function variableType(name: string): ExprType | undefined {
  return row(variableTypes, name);
}

/** The operands that a unary operator takes, in words; undefined for an unknown operator. */
export function unaryDomain(op: string): Domain | undefined {
  return row(unaryOperators, op)?.takes;
}

/** The operands that a binary operator takes, in words; undefined for an unknown operator. */
export function binaryDomain(op: string): Domain | undefined {
  return row(binaryOperators, op)?.takes;
}

/** The type of `op a`, without conversions; undefined when `op` does not take `a`. */
export function unaryType(op: UnaryOp, a: ExprType): ExprType | undefined {
  return typeOf(unaryOperators[op], a);
}

/** The type of `a op b`, without conversions; undefined when `op` does not take these operands. */
export function binaryType(op: BinaryOp, a: ExprType, b: ExprType): ExprType | undefined {
  return a === b ? typeOf(binaryOperators[op], a) : undefined;
}

function typeOf({ takes, gives }: Operator<unknown>, a: ExprType): ExprType | undefined {
  const fits = { number: a !== 'bool', 'i32 or bool': a !== 'f32', 'any type': true }[takes as string];
  if (!(fits ?? takes === a)) return undefined;
  return gives === 'same' ? a : gives;
}

/** A unary operator on host numbers, in f64; a result of type i32 wraps around. */
export function unaryFunction(op: UnaryOp, type: ExprType): Unary {
  const { host, wraps = host } = unaryOperators[op];
  return type === 'i32' ? wraps : host;
}

/** A binary operator on host numbers, in f64; a result of type i32 wraps around. */
export function binaryFunction(op: BinaryOp, type: ExprType): Binary {
  const { host, wraps = host } = binaryOperators[op];
  return type === 'i32' ? wraps : host;
}

/** `op a` in WGSL; in parentheses if `op` is a symbol. */
export function unaryWgsl(op: UnaryOp, a: string): string {
  const { wgsl } = unaryOperators[op];
  return /\w/.test(wgsl) ? `${wgsl}(${a})` : `(${wgsl}${a})`;
}

/** `a op b` in WGSL; in parentheses if `op` is a symbol. */
export function binaryWgsl(op: BinaryOp, a: string, b: string): string {
  const { wgsl } = binaryOperators[op];
  return /\w/.test(wgsl) ? `${wgsl}(${a}, ${b})` : `(${a} ${wgsl} ${b})`;
}
