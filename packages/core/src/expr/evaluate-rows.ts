import { dtypeInfo } from '../tensor/dtype.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { binaryFunctions, compile, type Evaluate, unaryFunctions } from './evaluate.ts';
import type { BinaryOp, Expr, LoadExpr } from './expr.ts';
import { hostLoaders } from './host-loaders.ts';
import { nodes, operands } from './nodes.ts';

/** Values at the keys 0 ≤ kv < n of one query; a bool is 0 or 1. What is given is reused by the next call. */
export type EvaluateRow = (b: number, h: number, q: number) => Float64Array;

/** The value of a node along a row: one number, or one for each key. */
type Along =
  | { readonly one: Evaluate }
  | { readonly each: (b: number, h: number, q: number) => void; readonly values: Float64Array };

/**
 * An expression without a score, evaluated row by row: what does not depend on the key is evaluated once per row, everything else
 * in one loop per node. The same as `compile` at every place.
 * @param n keys of a row.
 * @throws as `compile` and `hostLoaders`; out of range only where the value is needed.
 */
export function compileRows(expr: Expr, captures: Readonly<Record<string, Tensor>>, n: number): EvaluateRow {
  const loaders = hostLoaders(captures);
  const exact = compile(expr, loaders);
  // A load may be guarded by a condition; rows in which one leaves its tensor are evaluated place by place instead.
  const state = { left: false };
  const done = new Map<Expr, Along>();
  const order: ((b: number, h: number, q: number) => void)[] = [];
  const varying = dependents(expr);
  for (const e of nodes(expr)) {
    if (!varying.has(e)) continue;
    const along = rowOf(e, x => done.get(x) ?? { one: compile(x, loaders) }, captures, n, state);
    if ('each' in along) order.push(along.each);
    done.set(e, along);
  }
  const last = done.get(expr);
  const constant = new Float64Array(n);

  return (b, h, q) => {
    if (!last || !('each' in last)) return constant.fill(exact(NaN, b, h, q, 0));
    state.left = false;
    for (const each of order) {
      each(b, h, q);
      if (state.left) return last.values.map((_, kv) => exact(NaN, b, h, q, kv));
    }
    return last.values;
  };
}

/** The nodes that depend on the key. */
function dependents(expr: Expr): ReadonlySet<Expr> {
  const found = new Set<Expr>();
  for (const e of nodes(expr)) {
    if ((e.kind === 'variable' && e.name === 'kv') || operands(e).some(x => found.has(x))) found.add(e);
  }
  return found;
}

function rowOf(
  e: Expr,
  along: (e: Expr) => Along,
  captures: Readonly<Record<string, Tensor>>,
  n: number,
  state: { left: boolean },
): Along {
  const values = new Float64Array(n);
  if (e.kind === 'variable') {
    for (let kv = 0; kv < n; kv++) values[kv] = kv;
    return { values, each: () => undefined };
  }
  const inputs = operands(e).map(x => input(along(x), n));
  const fill = (b: number, h: number, q: number): void => {
    for (const { update } of inputs) update(b, h, q);
  };
  const [x, y, z] = inputs.map(({ values }) => values);
  const wraps = e.type === 'i32';
  const loop = (f: (kv: number) => number): Along => ({
    values,
    each(b, h, q) {
      fill(b, h, q);
      if (wraps) for (let kv = 0; kv < n; kv++) values[kv] = f(kv) | 0;
      else for (let kv = 0; kv < n; kv++) values[kv] = f(kv);
    },
  });
  switch (e.kind) {
    case 'unary': {
      const f = unaryFunctions[e.op];
      return loop(kv => f(x[kv]));
    }
    case 'binary': {
      const tight = tightLoops[e.op];
      if (tight && e.type !== 'f32') {
        return {
          values,
          each(b, h, q) {
            fill(b, h, q);
            tight(x, y, values);
          },
        };
      }
      const f = wraps && e.op === 'mul' ? Math.imul : binaryFunctions[e.op];
      return loop(kv => f(x[kv], y[kv]));
    }
    case 'select':
      return loop(kv => (x[kv] !== 0 ? y[kv] : z[kv]));
    case 'load': {
      const read = loadRow(
        e,
        captures[e.name],
        inputs.map(one => one.values),
        state,
      );
      return e.type === 'bool' ? loop(kv => (read(kv) === 0 ? 0 : 1)) : loop(read);
    }
    default:
      throw new TypeError(`a ${e.kind} does not depend on the key`);
  }
}

type Loop = (x: Float64Array, y: Float64Array, out: Float64Array) => void;

/** The operators of i32 and bool that masks are made of, each with a loop of its own, which an engine compiles into a few instructions. */
const tightLoops: Readonly<Partial<Record<BinaryOp, Loop>>> = {
  add: (x, y, out) => {
    for (let n = 0; n < out.length; n++) out[n] = (x[n] + y[n]) | 0;
  },
  sub: (x, y, out) => {
    for (let n = 0; n < out.length; n++) out[n] = (x[n] - y[n]) | 0;
  },
  lt: (x, y, out) => {
    for (let n = 0; n < out.length; n++) out[n] = x[n] < y[n] ? 1 : 0;
  },
  le: (x, y, out) => {
    for (let n = 0; n < out.length; n++) out[n] = x[n] <= y[n] ? 1 : 0;
  },
  gt: (x, y, out) => {
    for (let n = 0; n < out.length; n++) out[n] = x[n] > y[n] ? 1 : 0;
  },
  ge: (x, y, out) => {
    for (let n = 0; n < out.length; n++) out[n] = x[n] >= y[n] ? 1 : 0;
  },
  eq: (x, y, out) => {
    for (let n = 0; n < out.length; n++) out[n] = x[n] === y[n] ? 1 : 0;
  },
  and: (x, y, out) => {
    for (let n = 0; n < out.length; n++) out[n] = x[n] * y[n];
  },
  or: (x, y, out) => {
    for (let n = 0; n < out.length; n++) out[n] = x[n] + y[n] > 0 ? 1 : 0;
  },
};

/** An operand as values along the row: what is one number is spread when it is asked for. */
function input(
  along: Along,
  n: number,
): { readonly values: Float64Array; readonly update: (b: number, h: number, q: number) => void } {
  if ('each' in along) return { values: along.values, update: () => undefined };
  const values = new Float64Array(n);
  return { values, update: (b, h, q) => values.fill(along.one(NaN, b, h, q, 0)) };
}

function loadRow(
  { name }: LoadExpr,
  { data, shape, strides, offset, dtype }: Tensor,
  index: readonly Float64Array[],
  state: { left: boolean },
): (kv: number) => number {
  const { decode } = dtypeInfo[dtype];
  if (shape.length !== index.length) throw new TypeError(`captures.${name} has another rank`);
  return kv => {
    let at = offset;
    for (let d = 0; d < shape.length; d++) {
      const i = index[d][kv];
      if (!(i >= 0 && i < shape[d])) {
        state.left = true;
        return 0;
      }
      at += i * strides[d];
    }
    return decode(data[at]);
  };
}
