import { InvalidArgumentError } from '../../errors.ts';
import { canonicalNodes } from '../canonical.ts';
import type { Expr, ExprType, LoadExpr, VariableName } from '../nodes/expr.ts';
import { operationWgsl } from '../nodes/operators.ts';
import { operands } from '../nodes/walk.ts';
import { infinityOf, withoutInfinities } from './infinities.ts';

/** The names that an expression's WGSL uses for variables, loads and `let` statements. */
export interface WgslNames {
  /** Identifiers (or expressions without side effects) of the variables that the expression uses. */
  readonly variables: Readonly<Partial<Record<VariableName, string>>>;
  /**
   * Returns a WGSL expression of `type` (bool included) that reads a captured tensor at i32 indices. The
   * expression must clamp them to the tensor: both sides of a `select` are evaluated, so a guarded load may
   * get any index.
   */
  readonly load?: ((name: string, index: readonly string[], type: ExprType) => string) | undefined;
  /**
   * Returns a WGSL expression of the bits (u32) of a captured f32, for a `load` that does not preserve
   * infinities. Default: the bits of the loaded value.
   */
  readonly bits?: ((name: string, index: readonly string[]) => string) | undefined;
  /** The prefix of the identifiers that the statements declare. Default `e`: e0, e1… */
  readonly prefix?: string | undefined;
}

/** An expression in WGSL. */
export interface WgslExpression {
  /** `let` statements for the values that are used more than once, one per line; '' if there are none. */
  readonly statements: string;
  /** A WGSL expression of the same type, in parentheses wherever precedence could matter. */
  readonly value: string;
}

/** The deepest nesting of parentheses within one statement: WGSL parsers accept about a hundred. */
const DEEPEST = 32;

/** The text of a node, and the depth of its nested parentheses. */
interface Text {
  readonly code: string;
  readonly depth: number;
}

/**
 * An expression as WGSL. A node that is used more than once, by identity or with the same text, is computed
 * once, in a `let`; so is a node whose text would nest too deeply. Infinite constants become the largest
 * finite ones, because WGSL has no infinities; a comparison with an infinity becomes a test of the operands
 * of the compared value (see `isInfinity`).
 * @throws InvalidArgumentError for an invalid expression, or if `names` lacks `load` or a variable that the
 * expression uses.
 */
export function writeWgsl(expr: Expr, names: WgslNames): WgslExpression {
  const finite = withoutInfinities(expr);
  const canonical = canonicalNodes(finite);
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
  const texts = new Map<Expr, Text>();
  const textOf = (e: Expr): Text => texts.get(canonical.get(e) ?? e) ?? { code: '', depth: 0 };
  const codeOf = (e: Expr): string => textOf(e).code;
  for (const e of distinct) {
    const code = writeNode(e, codeOf, names);
    const depth = operands(e).reduce((most, x) => Math.max(most, textOf(x).depth + 1), 0);
    const isShared = operands(e).length > 0 && (uses.get(e) ?? 0) > 1;
    if (isShared || depth > DEEPEST) {
      const name = `${prefix}${statements.length}`;
      statements.push(`let ${name} = ${code};`);
      texts.set(e, { code: name, depth: 0 });
    } else texts.set(e, { code, depth });
  }
  return { statements: statements.join('\n'), value: codeOf(finite) };
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
      return operationWgsl(e, codeOf(e.a));
    case 'binary': {
      const infinity = infinityOf(e.b);
      // Only a loaded element can still be compared with an infinity here.
      if (infinity && e.op === 'eq' && e.a.kind === 'load') return isLoaded(infinity, e.a, codeOf, names);
      return operationWgsl(e, codeOf(e.a), codeOf(e.b));
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

const largestF32 = 3.4028234663852886e38;

/** A typed literal; negative ones are in parentheses, because `a--1` is not an expression. */
function literal(value: number, type: ExprType): string {
  if (type === 'bool') return value === 0 ? 'false' : 'true';
  if (type === 'i32') {
    // 2147483648i is not a literal, so -2147483648i is not valid either.
    if (value === -(2 ** 31)) return 'i32(-2147483648)';
    return value < 0 ? `(${value}i)` : `${value}i`;
  }
  const text = `${shortestF32(Math.max(-largestF32, Math.min(Math.fround(value), largestF32)))}f`;
  return text.startsWith('-') ? `(${text})` : text;
}

/**
 * The shortest decimal that reads back as this f32 and does not exceed the largest f32, which WGSL would
 * reject.
 */
function shortestF32(value: number): string {
  if (Object.is(value, -0)) return '-0';
  if (Math.abs(value) === largestF32) return String(value);
  for (let digits = 1; digits < 10; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(value);
}
