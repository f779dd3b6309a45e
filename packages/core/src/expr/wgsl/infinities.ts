import { checkedNodes } from '../check.ts';
import { binary, constant, unary } from '../nodes/create-node.ts';
import type { BinaryOp, Expr, UnaryOp } from '../nodes/expr.ts';
import { withOperands } from '../nodes/walk.ts';

/** The name of an infinity in constants. */
type InfinityName = '-Infinity' | 'Infinity';

const opposite = { '-Infinity': 'Infinity', Infinity: '-Infinity' } as const;

/**
 * An expression that says whether an f32 expression is an infinity, computed from its operands, because
 * shaders cannot test a value for infinity. The result contains an infinity only in `load == ±∞`, which a
 * shader tests by the bits of the element.
 *
 * The result is exact if the expression is a finite number or infinite. For NaN (∞ − ∞, 0·∞) it may be true
 * or false; a quotient by 0, and a power whose exponent is not a constant, count as finite.
 */
export function isInfinity(expr: Expr, infinity: InfinityName): Expr {
  const { add, test } = createTests();
  for (const e of checkedNodes(expr)) add(e);
  return test(expr, infinity);
}

/**
 * The expression with every comparison with an infinite constant, such as `x == −∞`, replaced by `isInfinity`
 * of the other operand.
 */
export function withoutInfinities(expr: Expr): Expr {
  const all = checkedNodes(expr);
  if (!all.some(e => infinityOf(e))) return expr;
  const { add, test } = createTests();
  const replaced = new Map<Expr, Expr>();
  for (const e of all) {
    const result = replaceComparison(
      withOperands(e, x => replaced.get(x) ?? x),
      test,
    );
    replaced.set(e, result);
    add(result);
  }
  return replaced.get(expr) ?? expr;
}

/** Returns an expression that says whether an operand is an infinity. */
type Test = (e: Expr, to: InfinityName) => Expr;

/**
 * The tests of all nodes of an expression, each made once. Call `add` for a node after calling it for its
 * operands.
 */
function createTests(): { readonly add: (e: Expr) => void; readonly test: Test } {
  const tests = { '-Infinity': new Map<Expr, Expr>(), Infinity: new Map<Expr, Expr>() };
  const test: Test = (e, to) => tests[to].get(e) ?? no;
  return {
    test,
    add(e) {
      if (e.type !== 'f32') return;
      for (const to of ['-Infinity', 'Infinity'] as const) tests[to].set(e, testNode(e, to, test));
    },
  };
}

function testNode(e: Expr, to: InfinityName, test: Test): Expr {
  switch (e.kind) {
    case 'constant':
      return constant(e.value === to);
    case 'load':
      return binary('eq', e, Number(to));
    case 'select':
      return either(both(e.condition, test(e.whenTrue, to)), both(not(e.condition), test(e.whenFalse, to)));
    case 'unary':
      return unaryTests[e.op]?.(test, to, e.a) ?? no;
    case 'binary':
      return binaryTests[e.op]?.(test, to, e.a, e.b) ?? no;
    case 'variable':
      return no;
  }
}

const ifPositive: UnaryTest = (test, to, a) => (to === 'Infinity' ? test(a, to) : no);
const ofEitherSign: UnaryTest = (test, to, a) =>
  to === 'Infinity' ? either(test(a, to), test(a, opposite[to])) : no;

type UnaryTest = (test: Test, to: InfinityName, a: Expr) => Expr;

/** Tests whether op(a) is infinite. Operators that are not listed do not produce infinities. */
const unaryTests: Readonly<Partial<Record<UnaryOp, UnaryTest>>> = {
  neg: (test, to, a) => test(a, opposite[to]),
  round: (test, to, a) => test(a, to),
  abs: ofEitherSign,
  exp: ifPositive,
  sqrt: ifPositive,
  log: (test, to, a) => (to === 'Infinity' ? test(a, to) : binary('eq', a, 0)),
};

type BinaryTest = (test: Test, to: InfinityName, a: Expr, b: Expr) => Expr;

const scaled: BinaryTest = (test, to, x, by) =>
  either(both(test(x, to), binary('gt', by, 0)), both(test(x, opposite[to]), binary('lt', by, 0)));

/** Tests whether a op b is infinite. Operators that are not listed do not produce infinities. */
const binaryTests: Readonly<Partial<Record<BinaryOp, BinaryTest>>> = {
  add: (test, to, a, b) => either(test(a, to), test(b, to)),
  sub: (test, to, a, b) => either(test(a, to), test(b, opposite[to])),
  mul: (test, to, a, b) => either(scaled(test, to, a, b), scaled(test, to, b, a)),
  div: scaled,
  min: (test, to, a, b) => (to === 'Infinity' ? both : either)(test(a, to), test(b, to)),
  max: (test, to, a, b) => (to === 'Infinity' ? either : both)(test(a, to), test(b, to)),
  pow: (test, to, a, b) => {
    if (b.kind !== 'constant' || !(Number(b.value) > 0)) return no;
    return Number(b.value) % 2 === 1 ? test(a, to) : ofEitherSign(test, to, a);
  },
};

const no: Expr = /* @__PURE__ */ constant(false);

// Logic that drops known operands, so that an expression without infinities becomes the constant false.

const known = (e: Expr): boolean | null => (e.kind === 'constant' ? e.value !== 0 : null);

function not(x: Expr): Expr {
  return unary('not', x);
}

function both(x: Expr, y: Expr): Expr {
  if (known(x) === false || known(y) === false) return no;
  if (known(x)) return y;
  return known(y) ? x : binary('and', x, y);
}

function either(x: Expr, y: Expr): Expr {
  if (known(x) || known(y)) return constant(true);
  if (known(x) === false) return y;
  return known(y) === false ? x : binary('or', x, y);
}

/**
 * The comparisons of a value with an infinity on the right that are true only for that infinity ('is'), or
 * for all values but that infinity ('is not').
 */
const comparisons: Readonly<Record<InfinityName, Readonly<Partial<Record<BinaryOp, 'is' | 'is not'>>>>> = {
  '-Infinity': { eq: 'is', le: 'is', ne: 'is not', gt: 'is not' },
  Infinity: { eq: 'is', ge: 'is', ne: 'is not', lt: 'is not' },
};

/** Comparisons with their operands exchanged. */
const exchanged: Readonly<Partial<Record<BinaryOp, BinaryOp>>> = {
  eq: 'eq',
  ne: 'ne',
  lt: 'gt',
  gt: 'lt',
  le: 'ge',
  ge: 'le',
};

function replaceComparison(e: Expr, test: Test): Expr {
  if (e.kind !== 'binary') return e;
  const [op, x, to] = infinityOf(e.a)
    ? [exchanged[e.op], e.b, infinityOf(e.a)]
    : [e.op, e.a, infinityOf(e.b)];
  const meaning = op && to && comparisons[to][op];
  if (!meaning) return e;
  return meaning === 'is' ? test(x, to) : not(test(x, to));
}

/** The infinity that an expression is the constant of, if any. */
export function infinityOf(e: Expr): InfinityName | null {
  return e.kind === 'constant' && typeof e.value === 'string' ? e.value : null;
}
