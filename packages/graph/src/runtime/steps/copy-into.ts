import type { TensorDesc } from '@tilewise/core';
import { type NumericExpr, toF32 } from '@tilewise/core/expr';
import { input, type TensorEngine } from '@tilewise/core/primitive';
import { exprType } from '../../ir/program/expr.ts';

/** Copies a tensor to another tensor of the same shape, converting to the target's dtype. */
export function copyInto<T extends TensorDesc>(
  { primitives }: Pick<TensorEngine<T>, 'primitives'>,
  from: T,
  to: T,
): void {
  const element = input(0, exprType(from.dtype));
  const isCounted = exprType(from.dtype) === 'i32' && exprType(to.dtype) === 'f32';
  const value = isCounted ? toF32(element as NumericExpr) : element;
  const prepared = primitives.prepare({ kind: 'map', value }, [from], [to]);
  try {
    prepared.run([from], [to]);
  } finally {
    prepared.release();
  }
}
