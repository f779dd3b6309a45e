import { checkObject } from '../../errors.ts';
import { checkMod } from '../check.ts';
import type { Expr } from '../nodes/expr.ts';
import type { Mod } from './mod.ts';

/**
 * A modification for an engine that has the functions for expressions itself, as those that run graphs do.
 * `modOf` makes one that brings them along.
 * @throws InvalidArgumentError for what is no object; `checkMod` says whether it is an expression.
 */
export function checkedMod<T = never>(expr: Expr, captures?: Readonly<Record<string, T>>): Mod<T> {
  checkObject('expr', expr);
  return { expr, tools: { checkMod }, ...(captures !== undefined && { captures }) };
}
