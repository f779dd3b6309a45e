import { elementCount, type Shape } from '@tilewise/core';
import { b, constant, type Expr, floorDiv, h, kv, mod, type NumericExpr, q } from '@tilewise/core/expr';
import type { GraphNode } from '../../ir/node.ts';
import { numberOf } from '../../ir/schema/attribute.ts';
import { axisOf } from '../../ir/tensor/shape.ts';
import type { HeadLayout } from './heads.ts';

/**
 * The axis of the scores, counted from the end, along which a broadcast `GenIndex` counts; null if the index
 * is 0 for all scores.
 */
export function indexAxis({ attributes }: GraphNode, shape: Shape, scores: Shape): number | null {
  const d = axisOf(numberOf(attributes, 'axis'), shape.length);
  if (d === undefined) return null;
  const axis = d - shape.length;
  return shape[d] === scores.at(axis) ? axis : null;
}

/**
 * The index along an axis of the scores (…, Sq, Skv), as an expression of (b, h, q, kv); null for an axis
 * that the scores do not have.
 */
export function axisIndex(axis: number, { batch }: Pick<HeadLayout, 'batch'>): NumericExpr | null {
  const rank = batch.length + 2;
  const d = axisOf(axis, rank);
  if (d === undefined) return null;
  if (d === rank - 1) return kv;
  if (d === rank - 2) return q;
  if (d === 0) return b;
  const inner = elementCount(batch.slice(d + 1));
  const above = inner === 1 ? h : floorDiv(h, inner);
  return d === 1 ? above : mod(above, batch[d]);
}

/** The index 0. */
export const zero: NumericExpr = /* @__PURE__ */ constant(0, 'i32');

/**
 * The index at which a score reads a tensor of shape (B|1, H|1, Sq|1, Skv|1), or a tensor with only the
 * dimensions from `first` on.
 */
export function placeIn(shape: readonly number[], first = 0): Expr[] {
  const place: readonly NumericExpr[] = [b, h, q, kv];
  return shape.map((n, d) => (n === 1 ? zero : place[first + d]));
}
