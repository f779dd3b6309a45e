import { canonicalNodes } from '../canonical.ts';
import type { BinaryOp, Expr, LoadExpr } from '../nodes/expr.ts';
import { binaryFunction, unaryFunction } from '../nodes/operators.ts';
import { operands } from '../nodes/walk.ts';

/**
 * Returns the values of an expression along the line that starts at an index, of the first `count` elements
 * (default: the width of a line); a bool is 0 or 1. The array is reused for the next line.
 */
export type EvaluateLine<I> = (start: I, count?: number) => Float64Array;

/** Reads a variable or a load along a line. */
export interface Leaf<I> {
  /** Whether the values differ along the line. */
  readonly varies: boolean;
  /** Writes the first `count` values of the line that starts at an index. */
  fill(out: Float64Array, count: number, start: I): void;
}

/** Makes the leaf of a variable or of a load, given the lines of its indices. */
export type LeafOf<I> = (
  e: LoadExpr | Extract<Expr, { kind: 'variable' }>,
  index: readonly Line[],
) => Leaf<I>;

/**
 * The values of a node along a line: one for each element or, if the node does not vary, one value that holds
 * for all elements.
 */
export interface Line {
  readonly varies: boolean;
  readonly values: Float64Array;
}

/**
 * Compiles an expression to f64 loops along lines of `width` elements, node by node: each node that varies
 * along a line becomes a loop over the line, and any other node is evaluated once. All operands are
 * evaluated, including those that a `select` does not choose.
 * @throws InvalidArgumentError for an invalid expression; the errors of `leafOf`.
 */
export function compileLines<I>(expr: Expr, width: number, leafOf: LeafOf<I>): EvaluateLine<I> {
  const canonical = canonicalNodes(expr);
  const lines = new Map<Expr, Line>();
  const lineOf = (e: Expr): Line => lines.get(canonical.get(e) ?? e) ?? { varies: false, values: noValues };
  const steps: ((start: I, count: number) => void)[] = [];
  for (const e of new Set(canonical.values())) {
    const inputs = operands(e).map(lineOf);
    const values = new Float64Array(width);
    if (e.kind === 'constant') {
      lines.set(e, { varies: false, values: values.fill(Number(e.value)) });
      continue;
    }
    const leaf =
      e.kind === 'variable' || e.kind === 'load'
        ? leafOf(e, inputs)
        : { varies: inputs.some(line => line.varies), fill: nodeFill(e, inputs) };
    const { varies } = leaf;
    steps.push((start, count) => {
      leaf.fill(values, varies ? count : Math.min(count, 1), start);
      if (!varies) values.fill(values[0], 1, count);
    });
    lines.set(e, { varies, values });
  }
  const { values } = lineOf(expr);
  return (start, count = width) => {
    for (const step of steps) step(start, count);
    return values;
  };
}

const noValues = /* @__PURE__ */ new Float64Array(0);

/** Computes the values of a node that has operands. */
function nodeFill(
  e: Extract<Expr, { kind: 'unary' | 'binary' | 'select' }>,
  inputs: readonly Line[],
): Leaf<unknown>['fill'] {
  const [a, b, c] = inputs.map(line => line.values);
  switch (e.kind) {
    case 'unary': {
      const f = unaryFunction(e.op, e.type);
      return (out, count) => {
        for (let n = 0; n < count; n++) out[n] = f(a[n]);
      };
    }
    case 'binary': {
      const f = binaryFunction(e.op, e.type);
      const loop = loops[e.type === 'i32' ? (`${e.op} i32` as const) : e.op];
      return (out, count) => {
        if (loop) loop(a, b, out, count);
        else for (let n = 0; n < count; n++) out[n] = f(a[n], b[n]);
      };
    }
    case 'select':
      return (out, count) => {
        for (let n = 0; n < count; n++) out[n] = a[n] ? b[n] : c[n];
      };
  }
}

type Loop = (a: Float64Array, b: Float64Array, out: Float64Array, count: number) => void;

/** Loops for the most common operators, which a compiler turns into a few instructions each. */
const loops: Readonly<Partial<Record<BinaryOp | `${BinaryOp} i32`, Loop>>> = {
  add: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] + b[n];
  },
  sub: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] - b[n];
  },
  mul: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] * b[n];
  },
  div: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] / b[n];
  },
  'add i32': (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = (a[n] + b[n]) | 0;
  },
  'sub i32': (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = (a[n] - b[n]) | 0;
  },
  lt: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] < b[n] ? 1 : 0;
  },
  le: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] <= b[n] ? 1 : 0;
  },
  gt: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] > b[n] ? 1 : 0;
  },
  ge: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] >= b[n] ? 1 : 0;
  },
  eq: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] === b[n] ? 1 : 0;
  },
  and: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] * b[n];
  },
  or: (a, b, out, count) => {
    for (let n = 0; n < count; n++) out[n] = a[n] + b[n] > 0 ? 1 : 0;
  },
};
