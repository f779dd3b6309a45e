import type { Expr, LoadExpr } from './expr.ts';

/** The direct operands of a node. */
export function operands(e: Expr): readonly Expr[] {
  switch (e.kind) {
    case 'unary':
      return [e.a];
    case 'binary':
      return [e.a, e.b];
    case 'select':
      return [e.condition, e.whenTrue, e.whenFalse];
    case 'load':
      return e.index;
    default:
      return [];
  }
}

/** Every node once, operands before what uses them. A node that is shared counts as one. */
export function nodes(expr: Expr): Expr[] {
  const seen = new Set<Expr>();
  const visit = (e: Expr): void => {
    if (seen.has(e)) return;
    for (const operand of operands(e)) visit(operand);
    seen.add(e);
  };
  visit(expr);
  return [...seen];
}

/** The reads of captured tensors in an expression. */
export function loads(expr: Expr): LoadExpr[] {
  return nodes(expr).filter(e => e.kind === 'load');
}
