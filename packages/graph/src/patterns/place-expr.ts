import { b, type Expr, floorDiv, h, kv, mod, type NumericExpr, q } from '@tilewise/core/expr';
import { axisOf } from '../shape/broadcast.ts';
import type { HeadLayout } from './heads.ts';

/** The index along an axis of the scores (…, Sq, Skv), as an expression of (b, h, q, kv); null for an axis they do not have. */
export function axisIndex(axis: number, { batch }: HeadLayout): NumericExpr | null {
  const rank = batch.length + 2;
  const d = axisOf(axis, rank);
  if (d === undefined) return null;
  if (d === rank - 1) return kv;
  if (d === rank - 2) return q;
  if (d === 0) return b;
  const inner = batch.slice(d + 1).reduce((n, extent) => n * extent, 1);
  const above = inner === 1 ? h : floorDiv(h, inner);
  return d === 1 ? above : mod(above, batch[d]);
}

/** Where a tensor (B|1, H|1, Sq|1, Skv|1) is read, or one that has only the dimensions from `first` on. */
export function placeIn(shape: readonly number[], first = 0): Expr[] {
  const place: readonly NumericExpr[] = [b, h, q, kv];
  const zero: Expr = { kind: 'constant', type: 'i32', value: 0 };
  return shape.map((n, d) => (n === 1 ? zero : place[first + d]));
}
