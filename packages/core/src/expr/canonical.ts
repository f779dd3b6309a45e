import { describeValue } from '../errors.ts';
import { checkedNodes } from './check.ts';
import type { Expr } from './nodes/expr.ts';
import { invalidExpression, operands } from './nodes/walk.ts';

/** The kind and type of a node, its operator, name or value, and the indices of its operands in the list. */
export type FlatNode = readonly [kind: string, type: string, detail: string | number, ...operands: number[]];

/** The distinct nodes of an expression. */
interface Numbering {
  /** Maps every node to the first node with the same text. */
  readonly canonical: Map<Expr, Expr>;
  /** The distinct nodes, each after its operands. */
  readonly list: FlatNode[];
}

function number(expr: Expr): Numbering {
  const indices = new Map<Expr, number>();
  const firsts = new Map<string, Expr>();
  const canonical = new Map<Expr, Expr>();
  const list: FlatNode[] = [];
  for (const e of checkedNodes(expr)) {
    const node: FlatNode = [e.kind, e.type, detailOf(e), ...operands(e).map(x => indices.get(x) ?? 0)];
    const key = node.join();
    const first = firsts.get(key);
    if (!first) {
      firsts.set(key, e);
      list.push(node);
    }
    canonical.set(e, first ?? e);
    indices.set(e, (first && indices.get(first)) ?? list.length - 1);
  }
  return { canonical, list };
}

function detailOf(e: Expr): string | number {
  if (e.kind === 'select') return '';
  if (e.kind === 'unary' || e.kind === 'binary') return e.op;
  if (e.kind !== 'constant') return e.name;
  // JSON has no −0.
  return Object.is(e.value, -0) ? '-0' : e.value;
}

/**
 * Maps every node to the first node with the same text. Nodes that map to the same node always have the same
 * value.
 */
export function canonicalNodes(expr: Expr): Map<Expr, Expr> {
  return number(expr).canonical;
}

/**
 * An expression as a list of its distinct nodes, each after its operands; the last node is the expression.
 * The JSON of the list has one entry per distinct node, whereas the JSON of an expression repeats a shared
 * node at every use.
 * @throws InvalidArgumentError for a value that is not an expression.
 */
export function flatten(expr: Expr): FlatNode[] {
  return number(expr).list;
}

/**
 * The expression whose list `flatten` returned.
 * @throws InvalidArgumentError for a value that is not such a list.
 */
export function unflatten(list: readonly FlatNode[]): Expr {
  const made: Expr[] = [];
  if (!Array.isArray(list)) throw invalidExpression('list', `${describeValue(list)} is not a list of nodes`);
  for (const node of list) {
    if (!Array.isArray(node)) throw invalidExpression('list', `${describeValue(node)} is not a node`);
    const [kind, type, detail, ...indices] = node;
    if (!indices.every(n => Number.isInteger(n) && n >= 0 && n < made.length)) {
      throw invalidExpression('list', 'a node has an operand that does not precede it');
    }
    const inputs = indices.map(n => made[n]);
    const [a, b, c] = inputs;
    const details = {
      constant: { value: detail === '-0' ? -0 : detail },
      variable: { name: detail },
      unary: { op: detail, a },
      binary: { op: detail, a, b },
      select: { condition: a, whenTrue: b, whenFalse: c },
      load: { name: detail, index: inputs },
    };
    if (typeof kind !== 'string' || !Object.hasOwn(details, kind)) {
      throw invalidExpression('list', `${describeValue(kind)} is not a kind of node`);
    }
    made.push({ kind, type, ...details[kind as Expr['kind']] } as Expr);
  }
  const expr = made.at(-1) as Expr;
  checkedNodes(expr, 'list');
  return expr;
}
