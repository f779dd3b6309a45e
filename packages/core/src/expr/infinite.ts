import type { BinaryOp, Expr, UnaryOp } from './expr.ts';
import { binary, constant, unary } from './node.ts';
import { nodes } from './nodes.ts';

/** An infinity, as constants spell it. */
type Infinite = '-Infinity' | 'Infinity';

const opposite = { '-Infinity': 'Infinity', Infinity: '-Infinity' } as const;

/**
 * Whether an f32 expression is −∞ or +∞, told from its operands: shaders have no infinities to look at in its value. It holds no
 * infinity itself but in `load == ±∞`, which is told by the bits of what is loaded.
 *
 * It is exact where the expression is a number or infinite. What is NaN (∞ − ∞, 0·∞) may be told as infinite or not; a quotient by 0
 * and a power with an exponent that is no constant are told as finite.
 */
export function infinite(expr: Expr, infinity: Infinite): Expr {
  const told = { '-Infinity': new Map<Expr, Expr>(), Infinity: new Map<Expr, Expr>() };
  const is: Told = (e, to) => told[to].get(e) ?? no;
  for (const e of nodes(expr)) {
    if (e.type !== 'f32') continue;
    for (const to of ['-Infinity', 'Infinity'] as const) told[to].set(e, tellNode(e, to, is));
  }
  return is(expr, infinity);
}

type Told = (e: Expr, to: Infinite) => Expr;

function tellNode(e: Expr, to: Infinite, is: Told): Expr {
  switch (e.kind) {
    case 'constant':
      return constant(e.value === to);
    case 'load':
      return binary('eq', e, Number(to));
    case 'select':
      return either(both(e.condition, is(e.whenTrue, to)), both(not(e.condition), is(e.whenFalse, to)));
    case 'unary':
      return tellUnary(e.op, e.a, to, is);
    case 'binary':
      return tellBinary(e.op, e.a, e.b, to, is);
    case 'variable':
      return no;
  }
}

/** Whether op(a) is infinite. */
function tellUnary(op: UnaryOp, a: Expr, to: Infinite, is: Told): Expr {
  switch (op) {
    case 'neg':
      return is(a, opposite[to]);
    case 'round':
      return is(a, to);
    case 'abs':
      return to === 'Infinity' ? either(is(a, to), is(a, opposite[to])) : no;
    case 'exp':
    case 'sqrt':
      return to === 'Infinity' ? is(a, to) : no;
    case 'log':
      return to === 'Infinity' ? is(a, to) : binary('eq', a, 0);
    default:
      return no;
  }
}

/** Whether a op b is infinite. */
function tellBinary(op: BinaryOp, a: Expr, b: Expr, to: Infinite, is: Told): Expr {
  const scaled = (x: Expr, by: Expr): Expr =>
    either(both(is(x, to), binary('gt', by, 0)), both(is(x, opposite[to]), binary('lt', by, 0)));
  switch (op) {
    case 'add':
      return either(is(a, to), is(b, to));
    case 'sub':
      return either(is(a, to), is(b, opposite[to]));
    case 'mul':
      return either(scaled(a, b), scaled(b, a));
    case 'div':
      return scaled(a, b);
    case 'min':
      return (to === 'Infinity' ? both : either)(is(a, to), is(b, to));
    case 'max':
      return (to === 'Infinity' ? either : both)(is(a, to), is(b, to));
    case 'pow': {
      if (b.kind !== 'constant' || !(Number(b.value) > 0)) return no;
      if (Number(b.value) % 2 === 1) return is(a, to);
      return to === 'Infinity' ? either(is(a, to), is(a, opposite[to])) : no;
    }
    default:
      return no;
  }
}

const no: Expr = /* @__PURE__ */ constant(false);

// Logic that drops what is known, so that an expression without infinities is told by `false`.

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

/** The comparisons with an infinity, written on the right, that hold for it alone, and for everything but it. */
const comparisons: Readonly<Record<Infinite, Readonly<Partial<Record<BinaryOp, 'is' | 'is not'>>>>> = {
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

/** An expression whose comparisons of a value with an infinite constant, as in `x == −∞`, are told as `infinite` does. */
export function withInfinitiesTold(expr: Expr): Expr {
  const told = new Map<Expr, Expr>();
  const of = (e: Expr): Expr => told.get(e) ?? e;
  for (const e of nodes(expr)) told.set(e, tell(withOperands(e, of)));
  return of(expr);
}

function tell(e: Expr): Expr {
  if (e.kind !== 'binary') return e;
  const [op, x, to] = infinityOf(e.a)
    ? [exchanged[e.op], e.b, infinityOf(e.a)]
    : [e.op, e.a, infinityOf(e.b)];
  const meaning = op && to && comparisons[to][op];
  if (!meaning) return e;
  return meaning === 'is' ? infinite(x, to) : not(infinite(x, to));
}

/** The infinity that an expression is, if it is a constant that is one. */
export function infinityOf(e: Expr): Infinite | null {
  return e.kind === 'constant' && typeof e.value === 'string' ? e.value : null;
}

/** A node with other operands. */
function withOperands(e: Expr, of: (e: Expr) => Expr): Expr {
  switch (e.kind) {
    case 'unary':
      return { ...e, a: of(e.a) };
    case 'binary':
      return { ...e, a: of(e.a), b: of(e.b) };
    case 'select':
      return { ...e, condition: of(e.condition), whenTrue: of(e.whenTrue), whenFalse: of(e.whenFalse) };
    case 'load':
      return { ...e, index: e.index.map(of) };
    default:
      return e;
  }
}
