import type { Expr } from '@tilewise/core';

/**
 * An expression in which some nodes are replaced: `replace` gives the replacement of a node, or null to keep
 * the node and rewrite its operands; `rewrite` rewrites a part. Shared nodes stay shared.
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

/** An expression in which the variable `score` is replaced. */
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
