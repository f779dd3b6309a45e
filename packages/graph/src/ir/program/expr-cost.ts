import type { Expr } from '@tilewise/core';
import { nodes, operands } from '@tilewise/core/expr';

/** The number of nodes of an expression written as a tree, without sharing. */
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
