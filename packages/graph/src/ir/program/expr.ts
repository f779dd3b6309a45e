import type { Expr } from '@tilewise/core';

/**
 * An expression with others in the place of some of its nodes: `replace` gives what stands for a node, or null for one that stays but
 * for its operands; `rewrite` does the same with a part of it. A node that is shared is shared in the result.
 */
export function rewriteExpr(
  expr: Expr,
  replace: (e: Expr, rewrite: (part: Expr) => Expr) => Expr | null,
): Expr {
  const done = new Map<Expr, Expr>();
  const visit = (e: Expr): Expr => {
    const known = done.get(e);
    if (known) return known;
    const made = replace(e, visit) ?? rebuild(e, visit);
    done.set(e, made);
    return made;
  };
  return visit(expr);
}

/** An expression of the variable `score` with another expression in its place. */
export function substitute(expr: Expr, value: Expr): Expr {
  return rewriteExpr(expr, e => (e.kind === 'variable' && e.name === 'score' ? value : null));
}

function rebuild(e: Expr, visit: (e: Expr) => Expr): Expr {
  switch (e.kind) {
    case 'unary':
      return { ...e, a: visit(e.a) };
    case 'binary':
      return { ...e, a: visit(e.a), b: visit(e.b) };
    case 'select':
      return {
        ...e,
        condition: visit(e.condition),
        whenTrue: visit(e.whenTrue),
        whenFalse: visit(e.whenFalse),
      };
    case 'load':
      return { ...e, index: e.index.map(visit) };
    default:
      return e;
  }
}
