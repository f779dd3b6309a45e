import type { BoolExpr, Expr, NumericExpr } from '@tilewise/core/expr';

/** An expression that the schema says is a number. */
export function numeric(e: Expr): NumericExpr {
  if (!isNumeric(e)) throw new TypeError('an element is a truth value where a number is needed');
  return e;
}

/** An expression that the schema says is a truth value. */
export function truth(e: Expr): BoolExpr {
  if (isNumeric(e)) throw new TypeError('an element is a number where a truth value is needed');
  return e as BoolExpr;
}

function isNumeric(e: Expr): e is NumericExpr {
  return e.type !== 'bool';
}
