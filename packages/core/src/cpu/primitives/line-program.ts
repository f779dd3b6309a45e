import { canonicalNodes } from '../../expr/canonical.ts';
import type { BinaryOp, Expr, UnaryOp } from '../../expr/expr.ts';
import { binaryFunction, unaryFunction } from '../../expr/operators.ts';
import { inputName } from '../../primitive/element.ts';
import { dtypeInfo } from '../../tensor/dtype.ts';
import type { Tensor, TensorDesc } from '../../tensor/tensor.ts';
import type { Kernels, LineKernels } from '../kernels/kernels.ts';
import { createLoadLine } from '../operands/load-line.ts';

/** An element-wise expression on floats and truth values, each node once and behind its operands. */
export interface LinePlan {
  readonly nodes: readonly Expr[];
  readonly canonical: ReadonlyMap<Expr, Expr>;
  readonly result: Expr;
}

/** Numbers in a line: few enough for the lines of an expression to stay in the cache. */
export const LINE = 1024;

/**
 * How an expression is computed line by line in f32; null when it counts in integers or reads at other places
 * than its own.
 */
export function planLines(expr: Expr, inputs: readonly TensorDesc[]): LinePlan | null {
  const canonical = canonicalNodes(expr);
  const nodes = [...new Set(canonical.values())];
  const canRun = nodes.every(e => {
    if (e.type === 'i32' || e.kind === 'variable') return false;
    if (e.kind !== 'load') return true;
    const input = inputs[inputNumber(e.name, inputs)];
    return input !== undefined && e.index.length === 0 && dtypeInfo[input.dtype].kind !== 'integer';
  });
  return canRun ? { nodes, canonical, result: canonical.get(expr) ?? expr } : null;
}

function inputNumber(name: string, inputs: readonly unknown[]): number {
  return inputs.findIndex((_, n) => inputName(n) === name);
}

/** A plan on the lines of some tensors. */
export interface LineProgram {
  /** Address of the values of the expression. */
  readonly at: number;
  /**
   * Computes `rows` lines of `count` elements each, at most `LINE` together, one behind the other: short
   * lines share what a call costs. Input n is read from element `from[n]` of its data on, `step[n]` apart
   * along a line and `rowStep[n]` from line to line.
   */
  run(
    rows: number,
    count: number,
    from: readonly number[],
    step: readonly number[],
    rowStep: readonly number[],
  ): void;
}

/** Computes elements that lie in line. */
type Step = (count: number) => void;

/** Gives every node a line in the kernels' memory. */
export function createLineProgram(
  { nodes, canonical, result }: LinePlan,
  kernels: Kernels,
  lines: LineKernels,
  inputs: readonly Tensor[],
): LineProgram {
  const { memory } = kernels;
  const places = new Map<Expr, number>();
  const place = (e: Expr): number => places.get(canonical.get(e) ?? e) ?? 0;
  const loads: LineProgram['run'][] = [];
  const steps: Step[] = [];
  for (const e of nodes) {
    if (e.kind === 'unary' && e.op === 'toF32') {
      places.set(e, place(e.a));
      continue;
    }
    // Loading a line may write up to 7 numbers behind it.
    const line = memory.scratch(LINE + 8);
    places.set(e, line.at);
    if (e.kind === 'constant') line.values.fill(Number(e.value));
    else if (e.kind === 'load') loads.push(loadStep(e.name, line.at));
    else steps.push(stepOf(e, line.at, place));
  }

  function stepOf(e: Expr, out: number, at: (e: Expr) => number): Step {
    switch (e.kind) {
      case 'unary':
        return unaryStep(e.op, at(e.a), out);
      case 'binary':
        return binaryStep(e.op, at(e.a), at(e.b), out);
      case 'select': {
        const [condition, whenTrue, whenFalse] = [at(e.condition), at(e.whenTrue), at(e.whenFalse)];
        return count => lines.selectLines(count, condition, whenTrue, whenFalse, out);
      }
      default:
        throw new TypeError(`a line cannot hold '${e.kind}'`);
    }
  }

  function loadStep(name: string, out: number): LineProgram['run'] {
    const n = inputNumber(name, inputs);
    const load = createLoadLine(kernels, inputs[n], LINE);
    const isBool = inputs[n].dtype === 'bool';
    return (rows, count, from, step, rowStep) => {
      if (step[n] === 0 && rowStep[n] === 0) load(from[n], 0, rows * count, out);
      else {
        for (let row = 0; row < rows; row++) {
          load(from[n] + row * rowStep[n], step[n], count, out + 4 * row * count);
        }
      }
      if (!isBool) return;
      const { f32 } = memory;
      for (let at = out >> 2; at < (out >> 2) + rows * count; at++) f32[at] = f32[at] === 0 ? 0 : 1;
    };
  }

  function unaryStep(op: UnaryOp, a: number, out: number): Step {
    const name = unaryKernels[op];
    if (name) {
      const kernel = lines[name];
      return count => kernel(count, a, out);
    }
    const f = unaryFunction(op, 'f32');
    return count => {
      const { f32 } = memory;
      for (let n = 0; n < count; n++) f32[(out >> 2) + n] = f(f32[(a >> 2) + n]);
    };
  }

  function binaryStep(op: BinaryOp, a: number, b: number, out: number): Step {
    const name = pairKernels[op];
    if (name) {
      const kernel = lines[name];
      return count => kernel(count, a, b, out);
    }
    if (op === 'gt') return binaryStep('lt', b, a, out);
    if (op === 'ge') return binaryStep('le', b, a, out);
    const f = binaryFunction(op, 'f32');
    return count => {
      const { f32 } = memory;
      for (let n = 0; n < count; n++) f32[(out >> 2) + n] = f(f32[(a >> 2) + n], f32[(b >> 2) + n]);
    };
  }

  return {
    at: place(result),
    run(rows, count, from, step, rowStep) {
      for (const load of loads) load(rows, count, from, step, rowStep);
      for (const compute of steps) compute(rows * count);
    },
  };
}

type LineName = 'negLine' | 'absLine' | 'sqrtLine' | 'expLine' | 'tanhLine' | 'erfLine';
type PairName =
  | 'addLines'
  | 'subLines'
  | 'mulLines'
  | 'divLines'
  | 'minLines'
  | 'maxLines'
  | 'lessLines'
  | 'lessEqualLines'
  | 'equalLines';

/** What kernels do; all else is done number by number, by the functions of the host. */
const unaryKernels: Readonly<Partial<Record<UnaryOp, LineName>>> = {
  neg: 'negLine',
  abs: 'absLine',
  sqrt: 'sqrtLine',
  exp: 'expLine',
  tanh: 'tanhLine',
  erf: 'erfLine',
};

/** `and` and `or` are of truth values, 0 and 1. */
const pairKernels: Readonly<Partial<Record<BinaryOp, PairName>>> = {
  add: 'addLines',
  sub: 'subLines',
  mul: 'mulLines',
  div: 'divLines',
  min: 'minLines',
  max: 'maxLines',
  lt: 'lessLines',
  le: 'lessEqualLines',
  eq: 'equalLines',
  and: 'minLines',
  or: 'maxLines',
};
