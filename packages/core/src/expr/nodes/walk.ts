import { describeValue, InvalidArgumentError } from '../../errors.ts';
import type { Expr, LoadExpr, VariableName } from './expr.ts';

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

/** The node with `map` applied to each operand; the node itself if no operand changes. */
export function withOperands(e: Expr, map: (operand: Expr) => Expr): Expr {
  if (operands(e).every(x => map(x) === x)) return e;
  switch (e.kind) {
    case 'unary':
      return { ...e, a: map(e.a) };
    case 'binary':
      return { ...e, a: map(e.a), b: map(e.b) };
    case 'select':
      return { ...e, condition: map(e.condition), whenTrue: map(e.whenTrue), whenFalse: map(e.whenFalse) };
    case 'load':
      return { ...e, index: e.index.map(map) };
    default:
      return e;
  }
}

/**
 * Every node of an expression once, operands before the nodes that use them; a shared node counts as one.
 * Takes linear time and does not recurse, so an expression may be a long chain.
 * @param argument the argument that errors name.
 * @param problemOf says what is wrong with a node whose operands are valid.
 * @throws InvalidArgumentError for a value that is not an expression, and for an expression that contains
 * itself.
 */
export function nodes(expr: Expr, argument = 'expr', problemOf?: (e: Expr) => string | undefined): Expr[] {
  const finished = new Set<Expr>();
  /** For each unfinished node, how many of its operands have been visited. */
  const open = new Map<Expr, number>();
  const stack: Expr[] = [];
  const visit = (e: Expr): void => {
    if (finished.has(e)) return;
    const problem = open.has(e) ? 'a node refers to itself' : formProblem(e);
    if (problem !== undefined) throw invalidExpression(argument, problem);
    open.set(e, 0);
    stack.push(e);
  };
  visit(expr);
  for (let e = stack.at(-1); e !== undefined; e = stack.at(-1)) {
    const next = open.get(e) ?? 0;
    const all = operands(e);
    open.set(e, next + 1);
    if (next < all.length) visit(all[next]);
    else {
      const problem = problemOf?.(e);
      if (problem !== undefined) throw invalidExpression(argument, problem);
      finished.add(e);
      open.delete(e);
      stack.pop();
    }
  }
  return [...finished];
}

/** The error for an argument that is not a valid expression. */
export function invalidExpression(argument: string, reason: string): InvalidArgumentError {
  return new InvalidArgumentError(argument, `is not a valid expression: ${reason}`);
}

const kinds: readonly unknown[] = ['constant', 'variable', 'unary', 'binary', 'select', 'load'];

/** Why the operands of a value cannot be read; the operands themselves need not be nodes. */
function formProblem(e: unknown): string | undefined {
  if (typeof e !== 'object' || e === null) return `${describeValue(e)} is not a node`;
  const { kind, index } = e as { readonly kind?: unknown; readonly index?: unknown };
  if (!kinds.includes(kind)) return `${describeValue(kind)} is not a kind of node`;
  return kind === 'load' && !Array.isArray(index)
    ? `${describeValue(index)} is not a list of indices`
    : undefined;
}

/** Whether an expression reads a variable. */
export function usesVariable(expr: Expr, name: VariableName): boolean {
  return nodes(expr).some(e => e.kind === 'variable' && e.name === name);
}

/** The captured tensors that an expression loads floats from. */
export function floatCaptures(expr: Expr): string[] {
  return [...new Set(loads(expr).flatMap(e => (e.type === 'f32' ? [e.name] : [])))];
}

/** The reads of captured tensors in an expression. */
export function loads(expr: Expr): LoadExpr[] {
  return nodes(expr).filter(e => e.kind === 'load');
}
