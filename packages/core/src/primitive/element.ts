import { load, type Operand } from '../expr/nodes/create-node.ts';
import type { BoolExpr, Expr, ExprType, NumericExpr } from '../expr/nodes/expr.ts';

/** The name of input n in a primitive's expression. */
export function inputName(n: number): string {
  return `x${n}`;
}

/**
 * The element of input n at the index that is being computed, with the input broadcast to the output's shape;
 * read as a float unless `type` says otherwise.
 */
export function input(n: number, type?: 'f32' | 'i32'): NumericExpr;
export function input(n: number, type: 'bool'): BoolExpr;
export function input(n: number, type?: ExprType): Expr;
export function input(n: number, type: ExprType = 'f32'): Expr {
  return inputAt(n, [], type);
}

/** The element of input n at a given index, one i32 per dimension of the input itself. */
export function inputAt(n: number, index: readonly Operand[], type?: 'f32' | 'i32'): NumericExpr;
export function inputAt(n: number, index: readonly Operand[], type: ExprType): Expr;
export function inputAt(n: number, index: readonly Operand[], type: ExprType = 'f32'): Expr {
  return type === 'bool' ? load(inputName(n), index, type) : load(inputName(n), index, type);
}

/** The index of the element that is being computed, along dimension d; i32. */
export function coordinate(d: number): NumericExpr {
  return load('coordinate', [d], 'i32');
}

/** The final value of a reduction, as the expression of its result reads it. */
export const reduced: NumericExpr = /* @__PURE__ */ load('reduced', []);
