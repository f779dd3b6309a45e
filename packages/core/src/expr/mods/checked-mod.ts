import { checkObject } from '../../errors.ts';
import { checkMod } from '../check.ts';
import type { Expr } from '../nodes/expr.ts';
import type { Mod } from './mod.ts';

/**
 * A mod for an engine that bundles the functions for expressions itself, as engines that run graphs do.
 * `modOf` makes a mod that brings the functions along.
 * @throws InvalidArgumentError if `expr` is not an object; only `checkMod` checks that it is an expression.
 */
export function checkedMod<T = never>(expr: Expr, captures?: Readonly<Record<string, T>>): Mod<T> {
  checkObject('expr', expr);
  return { expr, tools: { checkMod }, ...(captures !== undefined && { captures }) };
}
