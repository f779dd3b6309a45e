import { type DType, dtypeInfo } from '@tilewise/core';
import type { ExprType } from '@tilewise/core/expr';

/** The type of expressions that read elements of a dtype. */
export function exprType(dtype: DType): ExprType {
  const { kind } = dtypeInfo[dtype];
  if (kind === 'float') return 'f32';
  return kind === 'integer' ? 'i32' : 'bool';
}
