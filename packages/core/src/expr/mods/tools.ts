import { flatten } from '../canonical.ts';
import { checkMod } from '../check.ts';
import { differentiate, type LoadGradient, loadGradients } from '../differentiate.ts';
import type { Expr } from '../nodes/expr.ts';
import { floatCaptures } from '../nodes/walk.ts';
import { exprFunctionsWgsl } from '../wgsl/functions.ts';
import { type WgslExpression, type WgslNames, writeWgsl } from '../wgsl/wgsl.ts';

/**
 * The functions that engines apply to an expression. Engines take them from the mods of a call, so that a
 * program without mods does not bundle them; only code that reads stored problems imports them.
 */
export interface ExprTools {
  /** Checks an expression that comes from elsewhere, and the tensors that it loads from. */
  readonly checkMod: typeof checkMod;
  /** The derivative of an expression with respect to the score. */
  readonly differentiate: (expr: Expr) => Expr;
  /** The reads of a captured tensor in an expression, and the derivative with respect to each. */
  readonly loadGradients: (expr: Expr, name: string) => LoadGradient[];
  /** The captured tensors that an expression loads floats from. */
  readonly floatCaptures: (expr: Expr) => string[];
  /** The distinct nodes of an expression as a list, whose JSON has one entry per node. */
  readonly flatten: (expr: Expr) => readonly unknown[];
  /** Writes an expression as WGSL. */
  readonly writeWgsl: (expr: Expr, names: WgslNames) => WgslExpression;
  /** WGSL of the functions that such expressions call. */
  readonly functionsWgsl: string;
}

/** The functions that engines need for score and mask mods, as one value. */
export const exprTools: ExprTools = {
  checkMod,
  differentiate,
  loadGradients,
  floatCaptures,
  flatten,
  writeWgsl,
  functionsWgsl: exprFunctionsWgsl,
};
