import type { Expr } from '@tilewise/core';

/** An expression of the variable `score` with another expression in its place. */
export function substitute(expr: Expr, value: Expr): Expr {
  const done = new Map<Expr, Expr>();
  const visit = (e: Expr): Expr => {
    const known = done.get(e);
    if (known) return known;
    const made = rebuild(e, visit, value);
    done.set(e, made);
    return made;
  };
  return visit(expr);
}

function rebuild(e: Expr, visit: (e: Expr) => Expr, value: Expr): Expr {
  switch (e.kind) {
    case 'variable':
      return e.name === 'score' ? value : e;
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
