import { InvalidArgumentError } from '../../errors.ts';
import { checkedNodes } from '../check.ts';
import type { Expr, ExprType, VariableName } from '../nodes/expr.ts';
import { binaryFunction, unaryFunction } from '../nodes/operators.ts';
import { operands } from '../nodes/walk.ts';

/** The value of an expression for one pair of a query and a key; a bool is 0 or 1. */
export type Evaluate = (score: number, b: number, h: number, q: number, kv: number) => number;

/**
 * Reads captured tensors, by name and then by index. The caller reuses the index array, so a loader must not
 * keep it. `hostLoaders` makes loaders for host tensors.
 */
export type Loaders = (name: string) => (index: readonly number[]) => number;

const variables: readonly VariableName[] = ['score', 'b', 'h', 'q', 'kv'];

const noLoaders: Loaders = name => {
  throw new InvalidArgumentError('loaders', `must be given: the expression loads from '${name}'`);
};

/**
 * Compiles an expression to a function of (score, b, h, q, kv), in f64; i32 values wrap around as on a
 * device. A call evaluates each node at most once, however often the node is used. `select`, `and` and `or`
 * load only what they need, so a condition may guard a load. The function consists of closures: no code is
 * generated, so it runs under a content security policy.
 * @throws InvalidArgumentError for an invalid expression, or if the expression loads and `loaders` is
 * missing.
 */
export function compile(expr: Expr, loaders: Loaders = noLoaders): Evaluate {
  const all = checkedNodes(expr);
  const slots = new Map(Array.from(all, (e, n) => [e, n + variables.length]));
  const slotOf = (e: Expr): number =>
    e.kind === 'variable' ? variables.indexOf(e.name) : (slots.get(e) ?? 0);
  /** By slot: the values of the variables, followed by the values of the nodes. */
  const values = new Float64Array(variables.length + all.length);
  const deferred = deferredNodes(all);
  const steps: Step[] = [];
  const later: Later[] = [];
  for (const e of all) {
    const inputs = operands(e).map(slotOf);
    const step = nodeStep(e, values, slotOf(e), inputs, loaders);
    if (deferred.has(e)) later[slotOf(e)] = { step, needs: neededOperands(e, values, inputs) };
    else steps.push(step);
  }
  const result = slotOf(expr);
  const finish = onDemand(later, result);
  return (score, b, h, q, kv) => {
    values[0] = score;
    values[1] = b;
    values[2] = h;
    values[3] = q;
    values[4] = kv;
    for (const step of steps) step();
    finish();
    return values[result];
  };
}

/** Computes the value of a node from the values of its operands. */
type Step = () => void;

function nodeStep(
  e: Expr,
  values: Float64Array,
  at: number,
  inputs: readonly number[],
  loaders: Loaders,
): Step {
  const [a, b, c] = inputs;
  switch (e.kind) {
    case 'constant':
      values[at] = Number(e.value);
      return () => {};
    case 'variable':
      return () => {};
    case 'unary': {
      const f = unaryFunction(e.op, e.type);
      return () => {
        values[at] = f(values[a]);
      };
    }
    case 'binary': {
      const f = binaryFunction(e.op, e.type);
      return () => {
        values[at] = f(values[a], values[b]);
      };
    }
    case 'select':
      return () => {
        values[at] = values[a] ? values[b] : values[c];
      };
    case 'load': {
      const read = loaders(e.name);
      const index = inputs.map(() => 0);
      const convert = loadConversions[e.type];
      return () => {
        for (let d = 0; d < inputs.length; d++) index[d] = values[inputs[d]];
        values[at] = convert(read(index));
      };
    }
  }
}

/** Converts an element that was read to the type of the load. */
export const loadConversions: Readonly<Record<ExprType, (x: number) => number>> = {
  f32: x => x,
  i32: x => x | 0,
  bool: x => (x === 0 ? 0 : 1),
};

/** A node that is computed only if its value is needed. */
interface Later {
  readonly step: Step;
  /**
   * The slots of the values that this node depends on now. The first value of a `select`, `and` or `or`
   * decides which others it depends on.
   */
  readonly needs: () => readonly number[];
}

function neededOperands(e: Expr, values: Float64Array, inputs: readonly number[]): Later['needs'] {
  if (!isLazy(e)) return () => inputs;
  const [a, b, c] = inputs;
  const all = [a, b];
  const [whenTrue, whenFalse] =
    e.kind === 'select' ? [all, [a, c]] : e.op === 'and' ? [all, [a]] : [[a], all];
  return () => (values[a] ? whenTrue : whenFalse);
}

/**
 * The loads that may not be needed, and the nodes that depend on them. No other node can fail, so all other
 * nodes are always computed.
 */
function deferredNodes(all: readonly Expr[]): ReadonlySet<Expr> {
  const needed = new Set(all.slice(-1));
  for (let n = all.length - 1; n >= 0; n--) {
    if (!needed.has(all[n])) continue;
    for (const operand of operands(all[n]).slice(0, isLazy(all[n]) ? 1 : undefined)) needed.add(operand);
  }
  const deferred = new Set<Expr>();
  for (const e of all) {
    if ((e.kind === 'load' && !needed.has(e)) || operands(e).some(x => deferred.has(x))) deferred.add(e);
  }
  return deferred;
}

/** Whether the first operand of a node decides which others are needed. */
function isLazy(e: Expr): e is Extract<Expr, { readonly kind: 'select' | 'binary' }> {
  return e.kind === 'select' || (e.kind === 'binary' && (e.op === 'and' || e.op === 'or'));
}

/** Computes a result and the deferred nodes that it needs, each once per call. */
function onDemand(later: readonly Later[], result: number): Step {
  if (!(result in later)) return () => {};
  let call = 0;
  const doneIn = new Float64Array(later.length);
  const stack: number[] = [];
  const isMissing = (slot: number): boolean => later[slot] !== undefined && doneIn[slot] !== call;
  return () => {
    call++;
    // An earlier call may have thrown.
    stack.length = 0;
    stack.push(result);
    for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
      const missing = later[at].needs().find(isMissing);
      if (missing !== undefined) stack.push(missing);
      else {
        later[at].step();
        doneIn[at] = call;
        stack.pop();
      }
    }
  };
}
