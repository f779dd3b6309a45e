import { roundHalfEven } from '../../tensor/dtype/round.ts';
import { erf } from './erf.ts';
import type { BinaryOp, Expr, ExprType, UnaryOp, VariableName } from './expr.ts';

type UnaryExpr = Extract<Expr, { readonly kind: 'unary' }>;
type BinaryExpr = Extract<Expr, { readonly kind: 'binary' }>;
/** An operator applied to its operands. */
export type Operation = UnaryExpr | BinaryExpr;

const variableTypes: Readonly<Record<VariableName, ExprType>> = {
  score: 'f32',
  b: 'i32',
  h: 'i32',
  q: 'i32',
  kv: 'i32',
};

/** The types that an operator accepts; both operands of a binary operator have the same type. */
type Domain = 'f32' | 'i32' | 'number' | 'bool' | 'i32 or bool' | 'any type';

/** Everything known about an operator except its derivative. */
interface Operator<F> {
  readonly takes: Domain;
  /** `same`: the type of the operands. */
  readonly gives: ExprType | 'same';
  /** The operator on the host, in f64; a boolean is 0 or 1. */
  readonly host: F;
  /** The host's function for i32 operands if the result must wrap around; default: `host`. */
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

const operators = { unary: unaryOperators, binary: binaryOperators };

/** The row of a name, which may be any value. */
function row<R>(table: Readonly<Record<string, R>>, name: unknown): R | undefined {
  return typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The type of a variable; undefined for an unknown name. */
export function variableType(name: string): ExprType | undefined {
  return row(variableTypes, name);
}

/** The operands that an operator accepts, in words; undefined for an unknown operator. */
export function domainOf({ kind, op }: Pick<Operation, 'kind' | 'op'>): Domain | undefined {
  return row<Operator<unknown>>(operators[kind], op)?.takes;
}

/** The type of an operation, without conversions; undefined if the operator does not accept its operands. */
export function typeOf(e: Omit<UnaryExpr, 'type'> | Omit<BinaryExpr, 'type'>): ExprType | undefined {
  const { type } = e.a;
  const operator = row<Operator<unknown>>(operators[e.kind], e.op);
  if (!operator || (e.kind === 'binary' && e.b.type !== type)) return undefined;
  const { takes, gives } = operator;
  const fits = { number: type !== 'bool', 'i32 or bool': type !== 'f32', 'any type': true }[takes as string];
  if (!(fits ?? takes === type)) return undefined;
  return gives === 'same' ? type : gives;
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

/** An operation in WGSL from the texts of its operands, in parentheses if the operator is a symbol. */
export function operationWgsl({ kind, op }: Operation, ...texts: readonly string[]): string {
  const { wgsl } = kind === 'unary' ? unaryOperators[op] : binaryOperators[op];
  if (/\w/.test(wgsl)) return `${wgsl}(${texts.join(', ')})`;
  const [a, b] = texts;
  // `!=` is false for NaN on Vulkan, where it is an ordered comparison.
  if (op === 'ne') return `(!(${a} == ${b}))`;
  return b === undefined ? `(${wgsl}${a})` : `(${a} ${wgsl} ${b})`;
}
