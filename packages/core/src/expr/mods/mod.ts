import { checkFunction, checkObject, InvalidArgumentError } from '../../errors.ts';
import * as variables from '../build.ts';
import { constant, unary } from '../nodes/create-node.ts';
import type { BoolExpr, Expr, ModExpr, NumericExpr } from '../nodes/expr.ts';
import { type ExprTools, exprTools } from './tools.ts';

/** A score or mask modification. Made by `scoreMod`, `maskMod`, `modOf` and `checkedMod`. */
export interface Mod<T> extends ModExpr<T> {
  /**
   * The functions that engines apply to the expression. A mod brings them, so that bundles without mods do
   * not contain them.
   */
  readonly tools: Pick<ExprTools, 'checkMod'> & Partial<ExprTools>;
}

/**
 * A modification from an existing expression, such as a stored one.
 * @throws InvalidArgumentError if `expr` is not an object; only `checkMod` checks that it is an expression.
 */
export function modOf<T = never>(expr: Expr, captures?: Readonly<Record<string, T>>): Mod<T> {
  checkObject('expr', expr);
  return { expr, tools: exprTools, ...(captures !== undefined && { captures }) };
}

/**
 * The variables of a mod, which throw if JavaScript asks for their primitive values. JavaScript compares any
 * two objects as text, so `q >= kv` would be true for every pair, and a mask made of it would hide nothing.
 */
function guarded<T extends Readonly<Record<string, NumericExpr>>>(variables: T): T {
  const guard = ([name, variable]: [string, NumericExpr]) => {
    const value = () => {
      const advice = `write ge(${name}, x) or sub(${name}, x)`;
      throw new InvalidArgumentError(
        name,
        `is an expression, on which operators such as >= and - do not work: ${advice}`,
      );
    };
    return [name, Object.defineProperty({ ...variable }, Symbol.toPrimitive, { value })];
  };
  return Object.fromEntries(Object.entries(variables).map(guard)) as T;
}

/** The variables of a mask mod: the indices of the batch entry, query head, query and key; all i32. */
export type MaskModVariables = Readonly<Record<'b' | 'h' | 'q' | 'kv', NumericExpr>>;

/** The variables of a score mod: the indices of a pair, and its score. */
export interface ScoreModVariables extends MaskModVariables {
  /** q·k times scale, f32. */
  readonly score: NumericExpr;
}

/**
 * A score modification from a function of (score, b, h, q, kv), which is called once: `scoreMod(({ score, q,
 * kv }) => sub(score, mul(0.1, abs(sub(q, kv)))))`. h counts query heads. `captures` are the tensors that the
 * modification loads from.
 * @throws InvalidArgumentError if the argument is not a function, if an operator in it gets operands that it
 * does not accept, or if the function applies an operator of JavaScript to a variable (`q >= kv`).
 */
export function scoreMod<T = never>(
  build: (variables: ScoreModVariables) => NumericExpr | number,
  captures?: Readonly<Record<string, T>>,
): Mod<T> {
  checkFunction('build', build);
  const { score, b, h, q, kv } = variables;
  const value = build(guarded({ score, b, h, q, kv }));
  const expr = typeof value === 'number' ? constant(value) : unary('toF32', value);
  return modOf(expr, captures);
}

/**
 * A mask modification from a function of (b, h, q, kv), which is called once. Where its result is true, the
 * query may see the key: `maskMod(({ q, kv }) => ge(q, kv))`. `captures` are the tensors that the
 * modification loads from.
 * @throws InvalidArgumentError if the argument is not a function, if an operator in it gets operands that it
 * does not accept, or if the function applies an operator of JavaScript to a variable (`q >= kv`).
 */
export function maskMod<T = never>(
  build: (variables: MaskModVariables) => BoolExpr | boolean,
  captures?: Readonly<Record<string, T>>,
): Mod<T> {
  checkFunction('build', build);
  const { b, h, q, kv } = variables;
  const value = build(guarded({ b, h, q, kv }));
  const expr = typeof value === 'boolean' ? constant(value) : value;
  return modOf(expr, captures);
}
