import type { DType } from '@tilewise/core';
import type { NumericExpr } from '@tilewise/core/expr';
import { type ReducePrimitive, reduced } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { keptShape } from '../../ir/tensor/shape.ts';

/** What is joined over axes of a domain; a sum in f32 unless stated otherwise. */
interface Joined {
  readonly op?: ReducePrimitive['op'];
  readonly axes: readonly number[];
  readonly domain: readonly number[];
  readonly element: NumericExpr;
  readonly result?: NumericExpr;
  readonly dtype?: DType;
}

/** Reduces an expression of inputs to a value of its own, with extents of 1 along the axes. */
export function joined(
  lowering: Pick<Lowering, 'temporary' | 'reduce'>,
  inputs: readonly Value[],
  { op = 'sum', axes, domain, element, result = reduced, dtype }: Joined,
): Value {
  const value = lowering.temporary(keptShape(domain, axes), dtype);
  lowering.reduce({ op, axes, domain, element, result }, inputs, value);
  return value;
}
