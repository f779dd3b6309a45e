import { binary, checkOperands, constant, unary } from './nodes/create-node.ts';
import type { BoolExpr, Expr, NumericExpr } from './nodes/expr.ts';

export { constant, load, type Operand, select } from './nodes/create-node.ts';

/** A numeric operand. A number takes the type of the other operand; an i32 beside an f32 is converted. */
export type NumericOperand = NumericExpr | number;
/** A boolean operand. */
export type BoolOperand = BoolExpr | boolean;

/** The score at this stage, f32. */
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
export const add = (x: NumericOperand, y: NumericOperand): NumericExpr => binary('add', x, y);

/** x − y. */
export const sub = (x: NumericOperand, y: NumericOperand): NumericExpr => binary('sub', x, y);

/** x·y. */
export const mul = (x: NumericOperand, y: NumericOperand): NumericExpr => binary('mul', x, y);

/** x / y in f32; i32 operands are converted. */
export const div = (x: NumericOperand, y: NumericOperand): NumericExpr => binary('div', x, y);

/** ⌊x / y⌋ of i32; x when y is 0. */
export const floorDiv = (x: NumericOperand, y: NumericOperand): NumericExpr => binary('floorDiv', x, y);

/** x − y·⌊x / y⌋ of i32, which has the sign of y; 0 when y is 0. */
export const mod = (x: NumericOperand, y: NumericOperand): NumericExpr => binary('mod', x, y);

/** The smaller of the two operands. */
export const min = (x: NumericOperand, y: NumericOperand): NumericExpr => binary('min', x, y);

/** The larger of the two operands. */
export const max = (x: NumericOperand, y: NumericOperand): NumericExpr => binary('max', x, y);

/** x to the power y in f32: NaN for a negative x unless y is an integer. */
export const pow = (x: NumericOperand, y: NumericOperand): NumericExpr => binary('pow', x, y);

/** −x. */
export const neg = (x: NumericOperand): NumericExpr => unary('neg', x);

/** |x|. */
export const abs = (x: NumericOperand): NumericExpr => unary('abs', x);

/** eˣ in f32. */
export const exp = (x: NumericOperand): NumericExpr => unary('exp', x);

/** Natural logarithm in f32. */
export const log = (x: NumericOperand): NumericExpr => unary('log', x);

/** √x in f32. */
export const sqrt = (x: NumericOperand): NumericExpr => unary('sqrt', x);

/** Hyperbolic tangent in f32. */
export const tanh = (x: NumericOperand): NumericExpr => unary('tanh', x);

/** The error function 2/√π ∫₀ˣ e^(−t²) dt in f32. */
export const erf = (x: NumericOperand): NumericExpr => unary('erf', x);

/** The nearest integer, ties to even, in f32. */
export const round = (x: NumericOperand): NumericExpr => unary('round', x);

/** Sine in f32, of radians. */
export const sin = (x: NumericOperand): NumericExpr => unary('sin', x);

/** Cosine in f32, of radians. */
export const cos = (x: NumericOperand): NumericExpr => unary('cos', x);

/** An i32 or a boolean (0 or 1) as f32; an f32 unchanged. */
export const toF32 = (x: Expr | number | boolean): NumericExpr => unary('toF32', x);

/** x < y. */
export const lt = (x: NumericOperand, y: NumericOperand): BoolExpr => binary('lt', x, y);

/** x ≤ y. */
export const le = (x: NumericOperand, y: NumericOperand): BoolExpr => binary('le', x, y);

/** x > y. */
export const gt = (x: NumericOperand, y: NumericOperand): BoolExpr => binary('gt', x, y);

/** x ≥ y. */
export const ge = (x: NumericOperand, y: NumericOperand): BoolExpr => binary('ge', x, y);

/** x = y, for numbers or booleans. */
export const eq = (x: NumericOperand | BoolOperand, y: NumericOperand | BoolOperand): BoolExpr =>
  binary('eq', x, y);

/** x ≠ y, for numbers or booleans. */
export const ne = (x: NumericOperand | BoolOperand, y: NumericOperand | BoolOperand): BoolExpr =>
  binary('ne', x, y);

/** Whether all terms are true; true without terms. */
export const and = (...terms: BoolOperand[]): BoolExpr => join('and', terms, true);

/** Whether any term is true; false without terms. */
export const or = (...terms: BoolOperand[]): BoolExpr => join('or', terms, false);

/** Whether x is false. */
export const not = (x: BoolOperand): BoolExpr => unary('not', x);

function join(op: 'and' | 'or', terms: readonly BoolOperand[], ofNone: boolean): BoolExpr {
  checkOperands(op, ...terms);
  const [first = ofNone, ...rest] = terms;
  const start = typeof first === 'boolean' ? constant(first) : first;
  return rest.reduce<BoolExpr>((joined, term) => binary(op, joined, term), start);
}
