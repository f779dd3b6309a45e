import { type BoolExpr, type Expr, log, type NumericExpr, select } from '@tilewise/core/expr';

/** Narrows an expression that, by its schema, is a number. */
export function numeric(e: Expr): NumericExpr {
  if (!isNumeric(e)) throw new TypeError('an element is a boolean where a number is needed');
  return e;
}

/** Narrows an expression that, by its schema, is a boolean. */
export function truth(e: Expr): BoolExpr {
  if (isNumeric(e)) throw new TypeError('an element is a number where a boolean is needed');
  return e as BoolExpr;
}

function isNumeric(e: Expr): e is NumericExpr {
  return e.type !== 'bool';
}

/**
 * A value if a condition holds, else NaN. Expressions have no NaN constant, but on every engine the logarithm
 * of −1 is NaN.
 */
export function orNaN(holds: BoolExpr, value: NumericExpr): NumericExpr {
  return select(holds, value, log(select(holds, 1, -1)));
}
