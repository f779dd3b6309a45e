import { canonicalNodes } from './canonical.ts';
import { checkedNodes } from './check.ts';
import { binary, constant, select, unary } from './nodes/create-node.ts';
import type { BinaryOp, Expr, LoadExpr, UnaryOp } from './nodes/expr.ts';
import { operands } from './nodes/walk.ts';

/**
 * A read of a captured tensor in an expression, and the expression's derivative with respect to the element
 * read.
 */
export interface LoadGradient {
  /** The index that is read, an i32 expression for each dimension. */
  readonly index: readonly Expr[];
  /** The derivative of the whole expression with respect to the element read, f32. */
  readonly partial: Expr;
}

/**
 * ∂ expr / ∂ score, an f32 expression; 0 if only comparisons read the score.
 *
 * If the derivative does not exist, this follows PyTorch's autograd: 0 for |x| at 0, and half to each operand
 * of `min` and `max` if they are equal.
 */
export function differentiate(expr: Expr): Expr {
  return derivative(expr, e => e.kind === 'variable' && e.name === 'score');
}

/**
 * ∂ expr / ∂ element for every load of the captured tensor `name` (of floats) in the expression. The
 * gradient of an element is the sum over all (b, h, q, kv), and over all entries whose index is that element,
 * of `partial` times the gradient of the expression. Entries whose partial is 0 everywhere are left out. If a
 * partial is 0, for example under a condition that is false, its index may be outside the tensor and must
 * not be used.
 */
export function loadGradients(expr: Expr, name: string): LoadGradient[] {
  const canonical = canonicalNodes(expr);
  const sites = new Set<LoadExpr>();
  for (const e of canonical.values())
    if (e.kind === 'load' && e.name === name && e.type === 'f32') sites.add(e);
  const gradients: LoadGradient[] = [];
  for (const site of sites) {
    const partial = derivative(expr, e => canonical.get(e) === site);
    if (!isConstant(partial, 0)) gradients.push({ index: site.index, partial });
  }
  return gradients;
}

const zero = /* @__PURE__ */ constant(0);
const one = /* @__PURE__ */ constant(1);

/** Forward mode: computes the derivative of each node from the derivatives of its operands. */
function derivative(expr: Expr, isVariable: (e: Expr) => boolean): Expr {
  const derivatives = new Map<Expr, Expr>();
  const d = (e: Expr): Expr => derivatives.get(e) ?? zero;
  for (const e of checkedNodes(expr)) {
    if (isVariable(e)) derivatives.set(e, one);
    // Integers and booleans are constant almost everywhere, so no gradient flows through them.
    else if (e.type === 'f32' && operands(e).some(x => !isConstant(d(x), 0))) derivatives.set(e, chain(e, d));
  }
  return d(expr);
}

function chain(e: Expr, d: (e: Expr) => Expr): Expr {
  switch (e.kind) {
    case 'unary':
      return unaryDerivatives[e.op]?.(d(e.a), e.a, e) ?? zero;
    case 'binary':
      return binaryDerivatives[e.op]?.(d(e.a), d(e.b), e.a, e.b, e) ?? zero;
    case 'select':
      return choose(e.condition, d(e.whenTrue), d(e.whenFalse));
    default:
      return zero;
  }
}

/** Derivatives of y = op(a), given da; 0 for any other operator. */
const unaryDerivatives: Readonly<Partial<Record<UnaryOp, (da: Expr, a: Expr, y: Expr) => Expr>>> = {
  neg: da => negative(da),
  abs: (da, a) => choose(binary('gt', a, 0), da, choose(binary('lt', a, 0), negative(da), zero)),
  exp: (da, _, y) => times(y, da),
  log: (da, a) => over(da, a),
  sqrt: (da, _, y) => over(da, times(constant(2), y)),
  tanh: (da, _, y) => times(minus(one, times(y, y)), da),
  erf: (da, a) => times(times(constant(2 / Math.sqrt(Math.PI)), unary('exp', negative(times(a, a)))), da),
  sin: (da, a) => times(unary('cos', a), da),
  cos: (da, a) => times(negative(unary('sin', a)), da),
};

type BinaryDerivative = (da: Expr, db: Expr, a: Expr, b: Expr, y: Expr) => Expr;

/** Derivatives of y = a op b, given da and db; 0 for any other operator. */
const binaryDerivatives: Readonly<Partial<Record<BinaryOp, BinaryDerivative>>> = {
  add: plus,
  sub: minus,
  mul: (da, db, a, b) => plus(times(da, b), times(a, db)),
  div: (da, db, _, b, y) => over(minus(da, times(y, db)), b),
  min: (da, db, a, b) => choose(binary('lt', a, b), da, choose(binary('gt', a, b), db, mean(da, db))),
  max: (da, db, a, b) => choose(binary('gt', a, b), da, choose(binary('lt', a, b), db, mean(da, db))),
  pow: (da, db, a, b, y) => plus(times(powByBase(a, b), da), times(powByExponent(y, a, b), db)),
};

/** ∂ aᵇ / ∂ a = b·aᵇ⁻¹, which is 0 for b = 0 although a⁻¹ is undefined at a = 0. */
function powByBase(a: Expr, b: Expr): Expr {
  if (b.kind === 'constant') return Number(b.value) === 0 ? zero : times(b, power(a, Number(b.value) - 1));
  return choose(binary('eq', b, 0), zero, times(b, binary('pow', a, minus(b, one))));
}

/** ∂ aᵇ / ∂ b = aᵇ·ln a, which tends to 0 as a does, although ln 0 is undefined. */
function powByExponent(y: Expr, a: Expr, b: Expr): Expr {
  const logarithmic = times(y, unary('log', a));
  return choose(binary('and', binary('eq', a, 0), binary('ge', b, 0)), zero, logarithmic);
}

function power(a: Expr, exponent: number): Expr {
  if (exponent === 0) return one;
  return exponent === 1 ? a : binary('pow', a, exponent);
}

// Arithmetic on derivatives. It drops zeros and ones, so that the result has no terms that are always 0.

function isConstant(e: Expr, value: number): boolean {
  return e.kind === 'constant' && e.value === value;
}

function negative(x: Expr): Expr {
  if (isConstant(x, 0)) return zero;
  return x.kind === 'unary' && x.op === 'neg' ? x.a : unary('neg', x);
}

function plus(x: Expr, y: Expr): Expr {
  if (isConstant(x, 0)) return y;
  return isConstant(y, 0) ? x : binary('add', x, y);
}

function minus(x: Expr, y: Expr): Expr {
  if (isConstant(x, 0)) return negative(y);
  return isConstant(y, 0) ? x : binary('sub', x, y);
}

function times(x: Expr, y: Expr): Expr {
  if (isConstant(x, 0) || isConstant(y, 0)) return zero;
  if (isConstant(x, 1)) return y;
  if (isConstant(y, 1)) return x;
  if (isConstant(x, -1)) return negative(y);
  return isConstant(y, -1) ? negative(x) : binary('mul', x, y);
}

function over(x: Expr, y: Expr): Expr {
  if (isConstant(x, 0)) return zero;
  return isConstant(y, 1) ? x : binary('div', x, y);
}

function mean(x: Expr, y: Expr): Expr {
  return times(constant(0.5), plus(x, y));
}

function choose(condition: Expr, whenTrue: Expr, whenFalse: Expr): Expr {
  const same = whenFalse.kind === 'constant' && isConstant(whenTrue, Number(whenFalse.value));
  return whenTrue === whenFalse || same ? whenTrue : select(condition, whenTrue, whenFalse);
}
