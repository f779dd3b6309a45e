import { InvalidArgumentError } from '../errors.ts';
import type { BinaryOp, Expr, ExprType, LoadExpr, UnaryOp, VariableName } from './expr.ts';
import { infinityOf, withInfinitiesTold } from './infinite.ts';
import { canonicalNodes, operands } from './nodes.ts';

/** How an expression's surroundings are spelled in a shader. */
export interface WgslNames {
  /** Identifiers (or expressions without side effects) of the variables that the expression uses. */
  readonly variables: Readonly<Partial<Record<VariableName, string>>>;
  /**
   * A WGSL expression of `type` (bool included) that reads a captured tensor at i32 indices. It must clamp them to the
   * tensor: both sides of a `select` are evaluated, so a guarded load is reached with any index.
   */
  readonly load?: ((name: string, index: readonly string[], type: ExprType) => string) | undefined;
  /** A WGSL expression of the bits (u32) of a captured f32, for a `load` that does not keep infinities. Default: those of its value. */
  readonly bits?: ((name: string, index: readonly string[]) => string) | undefined;
  /** Start of the identifiers that this declares. Default `e`: e0, e1… */
  readonly prefix?: string | undefined;
}

/** An expression in WGSL. */
export interface WgslExpression {
  /** `let` statements of the values that are used more than once, one per line; '' if there are none. */
  readonly statements: string;
  /** A WGSL expression of the same type, in parentheses wherever precedence could matter. */
  readonly value: string;
}

/**
 * The functions that `writeWgsl` calls, to be put at module scope once: quotient and remainder that round towards −∞ (WGSL's
 * round towards 0), a logarithm that is NaN for negative numbers and −∞ for 0 and a power that takes a negative base (WGSL's may be
 * anything there), and a tanh that is right within a few units in
 * the last place (WGSL's may be sinh/cosh, which overflows for large arguments and loses its digits near 0, where the series is
 * within 1e-9 relative), and sine and cosine (WGSL's are good to 2^-11, and on [−π, π] only): Taylor series around the nearest
 * multiple of π/2, which is taken off in three parts, so that up to some thousand turns little is lost, and the error function, to
 * 1.5e-7 (Abramowitz and Stegun 7.1.26).
 */
export const exprFunctionsWgsl = `fn expr_floor_div(a: i32, b: i32) -> i32 {
  let r = a % b;
  return a / b - select(0i, 1i, r != 0i && ((r < 0i) != (b < 0i)));
}
fn expr_mod(a: i32, b: i32) -> i32 {
  let r = a % b;
  return r + select(0i, b, r != 0i && ((r < 0i) != (b < 0i)));
}
fn expr_log(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let limit = select(bitcast<f32>(bits | 0x7fc00000u), bitcast<f32>(bits | 0xff800000u), x == 0f);
  return select(log(x), limit, x <= 0f);
}
fn expr_pow(x: f32, y: f32) -> f32 {
  if (y == 0f) { return 1f; }
  let magnitude = pow(abs(x), y);
  return select(magnitude, -magnitude, x < 0f && abs(y) % 2f == 1f);
}
fn expr_tanh(x: f32) -> f32 {
  let a = min(abs(x), 15f);
  let y = a * a;
  let near = a * (1f + y * (-1f / 3f + y * (2f / 15f + y * (-17f / 315f + y * (62f / 2835f)))));
  return sign(x) * select(1f - 2f / (exp(2f * a) + 1f), near, a < 0.25f);
}
fn expr_sin_of_quadrant(x: f32, quadrants: i32) -> f32 {
  let n = round(x * 0.63661977f);
  let r = ((x - n * 1.5703125f) - n * 4.837513e-4f) - n * 7.54979e-8f;
  let y = r * r;
  let s = r * (1f - y * (1f / 6f - y * (1f / 120f - y * (1f / 5040f - y * (1f / 362880f)))));
  let c = 1f - y * (0.5f - y * (1f / 24f - y * (1f / 720f - y * (1f / 40320f - y * (1f / 3628800f)))));
  let quadrant = (i32(n) + quadrants) & 3i;
  let value = select(s, c, (quadrant & 1i) == 1i);
  return select(value, -value, quadrant >= 2i);
}
fn expr_sin(x: f32) -> f32 {
  return expr_sin_of_quadrant(x, 0i);
}
fn expr_cos(x: f32) -> f32 {
  return expr_sin_of_quadrant(x, 1i);
}
fn expr_erf(x: f32) -> f32 {
  let a = abs(x);
  let t = 1f / (1f + 0.3275911f * a);
  let p = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
  let y = 1f - p * exp(-a * a);
  return select(y, -y, x < 0f);
}
`;

const infix: Readonly<Partial<Record<BinaryOp, string>>> = {
  add: '+',
  sub: '-',
  mul: '*',
  div: '/',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
  eq: '==',
  ne: '!=',
  and: '&&',
  or: '||',
};

const functionNames: Readonly<Partial<Record<BinaryOp, string>>> = {
  min: 'min',
  max: 'max',
  floorDiv: 'expr_floor_div',
  mod: 'expr_mod',
  pow: 'expr_pow',
};

/**
 * An expression as WGSL. What occurs more than once, by identity or written alike, is computed once. Infinite constants
 * become the largest finite ones, since WGSL has no infinities; comparisons with one are told as `infinite` does.
 * @throws InvalidArgumentError when `names` lacks a variable that the expression uses, or `load`.
 */
export function writeWgsl(expr: Expr, names: WgslNames): WgslExpression {
  const told = withInfinitiesTold(expr);
  const canonical = canonicalNodes(told);
  const distinct = new Set(canonical.values());
  const uses = new Map<Expr, number>();
  for (const e of distinct) {
    for (const x of operands(e)) {
      const first = canonical.get(x) ?? x;
      uses.set(first, (uses.get(first) ?? 0) + 1);
    }
  }

  const { prefix = 'e' } = names;
  const statements: string[] = [];
  const codes = new Map<Expr, string>();
  const codeOf = (e: Expr): string => codes.get(canonical.get(e) ?? e) ?? '';
  for (const e of distinct) {
    const code = writeNode(e, codeOf, names);
    const shared = operands(e).length > 0 && (uses.get(e) ?? 0) > 1;
    codes.set(e, shared ? `${prefix}${statements.length}` : code);
    if (shared) statements.push(`let ${prefix}${statements.length} = ${code};`);
  }
  return { statements: statements.join('\n'), value: codeOf(told) };
}

function writeNode(e: Expr, codeOf: (e: Expr) => string, names: WgslNames): string {
  switch (e.kind) {
    case 'constant':
      return literal(Number(e.value), e.type);
    case 'variable': {
      const name = names.variables[e.name];
      if (name === undefined) {
        throw new InvalidArgumentError('names.variables', `must name '${e.name}', which the expression uses`);
      }
      return name;
    }
    case 'unary':
      return writeUnary(e.op, codeOf(e.a));
    case 'binary': {
      const infinity = infinityOf(e.b);
      // What is still compared with an infinity is loaded.
      if (infinity && e.op === 'eq' && e.a.kind === 'load') return isLoaded(infinity, e.a, codeOf, names);
      const symbol = infix[e.op];
      if (symbol !== undefined) return `(${codeOf(e.a)} ${symbol} ${codeOf(e.b)})`;
      return `${functionNames[e.op]}(${codeOf(e.a)}, ${codeOf(e.b)})`;
    }
    case 'select':
      return `select(${codeOf(e.whenFalse)}, ${codeOf(e.whenTrue)}, ${codeOf(e.condition)})`;
    case 'load':
      return loader(e, names)(e.name, e.index.map(codeOf), e.type);
  }
}

function loader({ name }: LoadExpr, { load }: WgslNames): NonNullable<WgslNames['load']> {
  if (load) return load;
  throw new InvalidArgumentError('names.load', `must be given: the expression loads from '${name}'`);
}

function isLoaded(
  infinity: keyof typeof infinityBits,
  e: LoadExpr,
  codeOf: (e: Expr) => string,
  names: WgslNames,
): string {
  const index = e.index.map(codeOf);
  const bits = names.bits?.(e.name, index) ?? `bitcast<u32>(${loader(e, names)(e.name, index, e.type)})`;
  return `(${bits} == ${infinityBits[infinity]})`;
}

const infinityBits = { '-Infinity': '0xff800000u', Infinity: '0x7f800000u' };

function writeUnary(op: UnaryOp, a: string): string {
  switch (op) {
    case 'neg':
      return `(-${a})`;
    case 'not':
      return `(!${a})`;
    case 'toF32':
      return `f32(${a})`;
    case 'log':
    case 'tanh':
    case 'erf':
    case 'sin':
    case 'cos':
      return `expr_${op}(${a})`;
    default:
      return `${op}(${a})`;
  }
}

const largestF32 = 3.4028234663852886e38;

/** A typed literal; negative ones in parentheses, since `a--1` is no expression. */
function literal(value: number, type: ExprType): string {
  if (type === 'bool') return value === 0 ? 'false' : 'true';
  if (type === 'i32') {
    // 2147483648i is no literal, so its negation is none either.
    if (value === -(2 ** 31)) return 'i32(-2147483648)';
    return value < 0 ? `(${value}i)` : `${value}i`;
  }
  const text = `${shortestF32(Math.max(-largestF32, Math.min(Math.fround(value), largestF32)))}f`;
  return text.startsWith('-') ? `(${text})` : text;
}

/** The shortest decimal that reads back as this f32, and is not beyond the largest, which WGSL rejects. */
function shortestF32(value: number): string {
  if (Object.is(value, -0)) return '-0';
  if (Math.abs(value) === largestF32) return String(value);
  for (let digits = 1; digits < 10; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(value);
}
