import { type DType, dtypeInfo, type Expr } from '@tilewise/core';
import { type ExprType, nodes, operands, withOperands } from '@tilewise/core/expr';

/** The type of expressions that read elements of a dtype. */
export function exprType(dtype: DType): ExprType {
  const { kind } = dtypeInfo[dtype];
  if (kind === 'float') return 'f32';
  return kind === 'integer' ? 'i32' : 'bool';
}

/** The maximum `exprCost` of an expression that is evaluated for every score. */
export const MAX_EVALUATED = 4096;

/** The number of nodes of an expression as a tree, counting a shared node at each use. */
export function exprCost(expr: Expr): number {
  const costs = new Map<Expr, number>();
  for (const e of nodes(expr)) {
    costs.set(
      e,
      operands(e).reduce((sum, x) => sum + (costs.get(x) ?? 0), 1),
    );
  }
  return costs.get(expr) ?? 0;
}

/**
 * Replaces some nodes of an expression: `replace` returns the replacement of a node, or null to keep the node
 * and rewrite its operands; it may call `rewrite` on a part of the node. Shared nodes stay shared.
 */
export function rewriteExpr(
  expr: Expr,
  replace: (e: Expr, rewrite: (part: Expr) => Expr) => Expr | null,
): Expr {
  const done = new Map<Expr, Expr>();
  const visit = (e: Expr): Expr => {
    const known = done.get(e);
    if (known) return known;
    const made = replace(e, visit) ?? withOperands(e, visit);
    done.set(e, made);
    return made;
  };
  return visit(expr);
}

/** Replaces the variable `score` in an expression. */
export function substitute(expr: Expr, value: Expr): Expr {
  return rewriteExpr(expr, e => (e.kind === 'variable' && e.name === 'score' ? value : null));
}
