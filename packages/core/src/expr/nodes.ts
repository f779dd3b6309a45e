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

/** For every node, the first one that is written alike: nodes with the same image have the same value at every place. */
export function canonicalNodes(expr: Expr): Map<Expr, Expr> {
  const numbers = new Map<Expr, number>();
  const firsts = new Map<string, Expr>();
  const canonical = new Map<Expr, Expr>();
  for (const e of nodes(expr)) {
    const key = JSON.stringify([
      e.kind,
      e.type,
      e.kind === 'constant' ? e.value : '',
      e.kind === 'unary' || e.kind === 'binary' ? e.op : '',
      e.kind === 'variable' || e.kind === 'load' ? e.name : '',
      ...operands(e).map(x => numbers.get(x)),
    ]);
    const first = firsts.get(key) ?? e;
    firsts.set(key, first);
    canonical.set(e, first);
    numbers.set(e, numbers.get(first) ?? numbers.size);
  }
  return canonical;
}
