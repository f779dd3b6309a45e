import { InvalidArgumentError } from '../errors.ts';
import { erf } from './erf.ts';
import type { BinaryOp, Expr, UnaryOp, VariableName } from './expr.ts';
import { roundHalfEven } from './round.ts';

/** Value of an expression at one place of the score matrix; a bool is 0 or 1. */
export type Evaluate = (score: number, b: number, h: number, q: number, kv: number) => number;

/**
 * How captured tensors are read: by name, then by index. The index array is reused between calls and must not be kept.
 * `hostLoaders` makes one from host tensors.
 */
export type Loaders = (name: string) => (index: readonly number[]) => number;

const variables: Readonly<Record<VariableName, Evaluate>> = {
  score: score => score,
  b: (_score, b) => b,
  h: (_score, _b, h) => h,
  q: (_score, _b, _h, q) => q,
  kv: (_score, _b, _h, _q, kv) => kv,
};

export const unaryFunctions: Readonly<Record<UnaryOp, (a: number) => number>> = {
  neg: a => -a,
  abs: Math.abs,
  exp: Math.exp,
  log: Math.log,
  sqrt: Math.sqrt,
  tanh: Math.tanh,
  erf,
  round: roundHalfEven,
  sin: Math.sin,
  cos: Math.cos,
  not: a => 1 - a,
  toF32: a => a,
};

// `and`, `or` are here for constants; `compile` evaluates their second operand only where it decides.
export const binaryFunctions: Readonly<Record<BinaryOp, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  // Division by zero is defined as in WGSL, so that host and device agree.
  floorDiv: (a, b) => (b === 0 ? a : Math.floor(a / b)),
  mod: (a, b) => (b === 0 ? 0 : a - b * Math.floor(a / b)),
  pow: (a, b) => a ** b,
  min: Math.min,
  max: Math.max,
  lt: (a, b) => (a < b ? 1 : 0),
  le: (a, b) => (a <= b ? 1 : 0),
  gt: (a, b) => (a > b ? 1 : 0),
  ge: (a, b) => (a >= b ? 1 : 0),
  eq: (a, b) => (a === b ? 1 : 0),
  ne: (a, b) => (a !== b ? 1 : 0),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
};

/** What a binary operator does to numbers; of i32 the caller wraps the result around. */
export function binaryFunction(op: BinaryOp, integer: boolean): (a: number, b: number) => number {
  // A product of two i32 does not fit in an f64's 53 bits.
  return integer && op === 'mul' ? Math.imul : binaryFunctions[op];
}

const noLoaders: Loaders = name => {
  throw new InvalidArgumentError('loaders', `must be given: the expression loads from '${name}'`);
};

/**
 * An expression as a function of (score, b, h, q, kv), in f64; i32 values wrap around as on a device. `select`, `and` and
 * `or` evaluate only what they need, so a load may be guarded by a condition. Made of closures: nothing is generated, so it
 * runs under a content security policy.
 * @throws InvalidArgumentError when the expression loads and `loaders` is missing.
 */
export function compile(expr: Expr, loaders: Loaders = noLoaders): Evaluate {
  const done = new Map<Expr, Evaluate>();
  const visit = (e: Expr): Evaluate => {
    let evaluate = done.get(e);
    if (evaluate === undefined) {
      evaluate = compileNode(e, visit, loaders);
      done.set(e, evaluate);
    }
    return evaluate;
  };
  return visit(expr);
}

function compileNode(e: Expr, visit: (e: Expr) => Evaluate, loaders: Loaders): Evaluate {
  switch (e.kind) {
    case 'constant': {
      const value = Number(e.value);
      return () => value;
    }
    case 'variable':
      return variables[e.name];
    case 'unary': {
      const f = unaryFunctions[e.op];
      const a = visit(e.a);
      if (e.type === 'i32') return (s, b, h, q, kv) => f(a(s, b, h, q, kv)) | 0;
      return (s, b, h, q, kv) => f(a(s, b, h, q, kv));
    }
    case 'binary':
      return compileBinary(e.op, e.type === 'i32', visit(e.a), visit(e.b));
    case 'select': {
      const condition = visit(e.condition);
      const whenTrue = visit(e.whenTrue);
      const whenFalse = visit(e.whenFalse);
      return (s, b, h, q, kv) =>
        condition(s, b, h, q, kv) ? whenTrue(s, b, h, q, kv) : whenFalse(s, b, h, q, kv);
    }
    case 'load':
      return compileLoad(
        e.type,
        loaders(e.name),
        e.index.map(i => visit(i)),
      );
  }
}

function compileBinary(op: BinaryOp, integer: boolean, x: Evaluate, y: Evaluate): Evaluate {
  if (op === 'and') return (s, b, h, q, kv) => (x(s, b, h, q, kv) ? y(s, b, h, q, kv) : 0);
  if (op === 'or') return (s, b, h, q, kv) => (x(s, b, h, q, kv) ? 1 : y(s, b, h, q, kv));
  const f = binaryFunction(op, integer);
  if (integer) return (s, b, h, q, kv) => f(x(s, b, h, q, kv), y(s, b, h, q, kv)) | 0;
  return (s, b, h, q, kv) => f(x(s, b, h, q, kv), y(s, b, h, q, kv));
}

function compileLoad(
  type: Expr['type'],
  read: (index: readonly number[]) => number,
  at: readonly Evaluate[],
): Evaluate {
  const index = new Array<number>(at.length).fill(0);
  const load: Evaluate = (s, b, h, q, kv) => {
    for (let d = 0; d < at.length; d++) index[d] = at[d](s, b, h, q, kv);
    return read(index);
  };
  if (type === 'i32') return (s, b, h, q, kv) => load(s, b, h, q, kv) | 0;
  if (type === 'bool') return (s, b, h, q, kv) => (load(s, b, h, q, kv) === 0 ? 0 : 1);
  return load;
}
