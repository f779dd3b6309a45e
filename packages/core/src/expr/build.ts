import type { BoolExpr, Expr, NumericExpr } from './expr.ts';
import { binary, checkOperands, constant, unary } from './node.ts';

export { constant, load, type Operand, select } from './node.ts';

/** A numeric operand: a number takes the type of the operand beside it; an i32 beside an f32 is converted. */
export type NumericOperand = NumericExpr | number;
/** A truth value as an operand. */
export type BoolOperand = BoolExpr | boolean;

/** The score so far, f32. */
export const score: NumericExpr = { kind: 'variable', type: 'f32', name: 'score' };
/** Index of the batch entry (the sequence), i32. */
export const b: NumericExpr = { kind: 'variable', type: 'i32', name: 'b' };
/** Index of the query head, i32. */
export const h: NumericExpr = { kind: 'variable', type: 'i32', name: 'h' };
/** Index of the query in its sequence, i32. */
export const q: NumericExpr = { kind: 'variable', type: 'i32', name: 'q' };
/** Index of the key in its sequence, i32. */
export const kv: NumericExpr = { kind: 'variable', type: 'i32', name: 'kv' };

/** x + y. */
export function add(x: NumericOperand, y: NumericOperand): NumericExpr {
  return binary('add', x, y);
}

/** x − y. */
export function sub(x: NumericOperand, y: NumericOperand): NumericExpr {
  return binary('sub', x, y);
}

/** x·y. */
export function mul(x: NumericOperand, y: NumericOperand): NumericExpr {
  return binary('mul', x, y);
}

/** x / y in f32; i32 operands are converted. */
export function div(x: NumericOperand, y: NumericOperand): NumericExpr {
  return binary('div', x, y);
}

/** ⌊x / y⌋ of i32; x when y is 0. */
export function floorDiv(x: NumericOperand, y: NumericOperand): NumericExpr {
  return binary('floorDiv', x, y);
}

/** x − y·⌊x / y⌋ of i32, which has the sign of y; 0 when y is 0. */
export function mod(x: NumericOperand, y: NumericOperand): NumericExpr {
  return binary('mod', x, y);
}

/** The smaller of two. */
export function min(x: NumericOperand, y: NumericOperand): NumericExpr {
  return binary('min', x, y);
}

/** The larger of two. */
export function max(x: NumericOperand, y: NumericOperand): NumericExpr {
  return binary('max', x, y);
}

/** x to the power y in f32. A negative x is only defined for an integer y. */
export function pow(x: NumericOperand, y: NumericOperand): NumericExpr {
  return binary('pow', x, y);
}

/** −x. */
export function neg(x: NumericOperand): NumericExpr {
  return unary('neg', x);
}

/** |x|. */
export function abs(x: NumericOperand): NumericExpr {
  return unary('abs', x);
}

/** eˣ in f32. */
export function exp(x: NumericOperand): NumericExpr {
  return unary('exp', x);
}

/** Natural logarithm in f32. */
export function log(x: NumericOperand): NumericExpr {
  return unary('log', x);
}

/** √x in f32. */
export function sqrt(x: NumericOperand): NumericExpr {
  return unary('sqrt', x);
}

/** Hyperbolic tangent in f32. */
export function tanh(x: NumericOperand): NumericExpr {
  return unary('tanh', x);
}

/** The error function 2/√π ∫₀ˣ e^(−t²) dt in f32. */
export function erf(x: NumericOperand): NumericExpr {
  return unary('erf', x);
}

/** The nearest integer, the even one of two that are as near, in f32. */
export function round(x: NumericOperand): NumericExpr {
  return unary('round', x);
}

/** Sine in f32, of radians. */
export function sin(x: NumericOperand): NumericExpr {
  return unary('sin', x);
}

/** Cosine in f32, of radians. */
export function cos(x: NumericOperand): NumericExpr {
  return unary('cos', x);
}

/** An i32 as f32; a truth value as 0 or 1; an f32 as it is. */
export function toF32(x: Expr | number | boolean): NumericExpr {
  return unary('toF32', x);
}

/** x < y. */
export function lt(x: NumericOperand, y: NumericOperand): BoolExpr {
  return binary('lt', x, y);
}

/** x ≤ y. */
export function le(x: NumericOperand, y: NumericOperand): BoolExpr {
  return binary('le', x, y);
}

/** x > y. */
export function gt(x: NumericOperand, y: NumericOperand): BoolExpr {
  return binary('gt', x, y);
}

/** x ≥ y. */
export function ge(x: NumericOperand, y: NumericOperand): BoolExpr {
  return binary('ge', x, y);
}

/** x = y, of numbers or of truth values. */
export function eq(x: NumericOperand | BoolOperand, y: NumericOperand | BoolOperand): BoolExpr {
  return binary('eq', x, y);
}

/** x ≠ y, of numbers or of truth values. */
export function ne(x: NumericOperand | BoolOperand, y: NumericOperand | BoolOperand): BoolExpr {
  return binary('ne', x, y);
}

/** Whether all hold; true of none. */
export function and(...terms: BoolOperand[]): BoolExpr {
  return join('and', terms, true);
}

/** Whether any holds; false of none. */
export function or(...terms: BoolOperand[]): BoolExpr {
  return join('or', terms, false);
}

/** Whether x does not hold. */
export function not(x: BoolOperand): BoolExpr {
  return unary('not', x);
}

function join(op: 'and' | 'or', terms: readonly BoolOperand[], ofNone: boolean): BoolExpr {
  checkOperands(op, ...terms);
  const [first = ofNone, ...rest] = terms;
  const start = typeof first === 'boolean' ? constant(first) : first;
  return rest.reduce<BoolExpr>((joined, term) => binary(op, joined, term), start);
}
