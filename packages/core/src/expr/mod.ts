import type { Expr } from './expr.ts';

/** A score or mask modification: an expression, and the tensors that it loads from by name. */
export interface Mod<T> {
  readonly expr: Expr;
  readonly captures?: Readonly<Record<string, T>>;
}
