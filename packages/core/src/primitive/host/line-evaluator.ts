import { InvalidArgumentError } from '../../errors.ts';
import { binaryFunction, unaryFunctions } from '../../expr/evaluate.ts';
import type { Expr } from '../../expr/expr.ts';
import { canonicalNodes } from '../../expr/nodes.ts';
import type { Shape } from '../../tensor/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { inputName } from '../element.ts';
import { broadcastStrides, offsetOf, reader } from './reader.ts';

/** Gives the values of an expression along a line that starts at an index; the array is used again for the next line. */
export type LineEvaluator = (start: readonly number[]) => Float64Array;

/** Fills the values of a node along a line. */
type Fill = (start: readonly number[]) => void;

/**
 * The evaluator of an expression as `element.ts` writes them, in f64, over inputs that are broadcast to `shape`: for lines of
 * `width` elements along one dimension. Node by node rather than element by element, so that each is a tight loop.
 */
export function lineEvaluator(
  expr: Expr,
  inputs: readonly Tensor[],
  shape: Shape,
  dimension: number,
  width: number,
): LineEvaluator {
  const canonical = canonicalNodes(expr);
  const lines = new Map<Expr, Float64Array>();
  const lineOf = (e: Expr): Float64Array => lines.get(canonical.get(e) ?? e) ?? new Float64Array(0);
  const fills: Fill[] = [];
  for (const e of new Set(canonical.values())) {
    const out = new Float64Array(width);
    const fill =
      e.kind === 'load' ? loadLine(e, out, inputs, shape, dimension, lineOf) : nodeLine(e, out, lineOf);
    if (fill) fills.push(fill);
    lines.set(e, out);
  }
  const result = lineOf(expr);
  return start => {
    for (const fill of fills) fill(start);
    return result;
  };
}

function loadLine(
  { name, index }: Extract<Expr, { kind: 'load' }>,
  out: Float64Array,
  inputs: readonly Tensor[],
  shape: Shape,
  dimension: number,
  lineOf: (e: Expr) => Float64Array,
): Fill {
  const at = index.map(lineOf);
  if (name === 'coordinate') {
    return start => {
      // Which dimension is asked for is a constant: the same along the line.
      const d = at[0][0];
      for (let n = 0; n < out.length; n++) out[n] = start[d] + (d === dimension ? n : 0);
    };
  }
  const input = inputs[inputs.findIndex((_, n) => inputName(n) === name)];
  if (!input) {
    throw new InvalidArgumentError('inputs', `has no tensor for '${name}', which the expression reads`);
  }
  const read = reader(input);
  const { offset, strides, shape: extents, data, dtype } = input;
  if (index.length === 0) {
    const own = broadcastStrides(input, shape);
    const step = own[dimension] ?? 0;
    if (dtype === 'f32') {
      return start => {
        const from = offset + offsetOf(start, own);
        for (let n = 0; n < out.length; n++) out[n] = data[from + n * step];
      };
    }
    return start => {
      const from = offset + offsetOf(start, own);
      for (let n = 0; n < out.length; n++) out[n] = read(from + n * step);
    };
  }
  return () => {
    for (let n = 0; n < out.length; n++) {
      let place = offset;
      // As on a device, an index outside the tensor is brought back to its edge.
      for (let d = 0; d < at.length; d++)
        place += Math.min(Math.max(at[d][n], 0), extents[d] - 1) * strides[d];
      out[n] = read(place);
    }
  };
}

/** How a node that is no load is filled; null for one that stays as it is. */
function nodeLine(e: Expr, out: Float64Array, lineOf: (e: Expr) => Float64Array): Fill | null {
  const integer = e.type === 'i32';
  switch (e.kind) {
    case 'constant':
      out.fill(Number(e.value));
      return null;
    case 'unary': {
      const a = lineOf(e.a);
      const f = unaryFunctions[e.op];
      return () => {
        for (let n = 0; n < out.length; n++) out[n] = integer ? f(a[n]) | 0 : f(a[n]);
      };
    }
    case 'binary': {
      const [a, b] = [lineOf(e.a), lineOf(e.b)];
      const fast = integer ? undefined : arithmetic[e.op];
      if (fast) return () => fast(a, b, out);
      const f = binaryFunction(e.op, integer);
      return () => {
        for (let n = 0; n < out.length; n++) out[n] = integer ? f(a[n], b[n]) | 0 : f(a[n], b[n]);
      };
    }
    case 'select': {
      const [condition, whenTrue, whenFalse] = [lineOf(e.condition), lineOf(e.whenTrue), lineOf(e.whenFalse)];
      return () => {
        for (let n = 0; n < out.length; n++) out[n] = condition[n] ? whenTrue[n] : whenFalse[n];
      };
    }
    default:
      throw new InvalidArgumentError(
        'value',
        `of a primitive cannot read '${e.kind === 'variable' ? e.name : e.kind}'`,
      );
  }
}

type LineArithmetic = (a: Float64Array, b: Float64Array, out: Float64Array) => void;

/** The commonest operators with loops of their own, which the compiler makes fast. */
const arithmetic: Readonly<Record<string, LineArithmetic>> = {
  add: (a, b, out) => {
    for (let n = 0; n < out.length; n++) out[n] = a[n] + b[n];
  },
  sub: (a, b, out) => {
    for (let n = 0; n < out.length; n++) out[n] = a[n] - b[n];
  },
  mul: (a, b, out) => {
    for (let n = 0; n < out.length; n++) out[n] = a[n] * b[n];
  },
  div: (a, b, out) => {
    for (let n = 0; n < out.length; n++) out[n] = a[n] / b[n];
  },
};
