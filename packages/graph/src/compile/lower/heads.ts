import { elementCount, type Shape } from '@tilewise/core';
import type { StepWriter, Value } from '../../ir/program/lowering.ts';
import { viewStrides } from '../../ir/program/views.ts';

/**
 * The leading dimensions of the scores as batch and heads: B is the first dimension, Hq the product of the
 * others.
 */
export interface HeadLayout {
  /** The shape (…, Sq, Skv) of the scores. */
  readonly scores: Shape;
  readonly batch: readonly number[];
  readonly B: number;
  readonly H: number;
}

/** The layout of scores. */
export function headLayout(scores: Shape): HeadLayout {
  const batch = scores.slice(0, -2);
  const [B = 1, ...heads] = batch;
  return { scores, batch, B, H: elementCount(heads) };
}

/**
 * Whether a tensor may have fewer heads than the scores. `exact`: no. `grouped`: a divisor of them, where
 * each head serves neighbouring query heads (keys and values). `broadcast`: one head for all (masks); B may
 * then be 1 too.
 */
type Sharing = 'exact' | 'grouped' | 'broadcast';

/**
 * A tensor (…, X, Y) that broadcasts to the leading dimensions of the scores, as (B, H, X, Y): a view where
 * possible.
 */
export function asHeads(writer: StepWriter, value: Value, layout: HeadLayout, sharing: Sharing): Value {
  const { shape, strides } = value.desc;
  const lead = layout.batch.length + 2 - shape.length;
  const padded = [...new Array<number>(Math.max(lead, 0)).fill(1), ...shape];
  const steps = [...new Array<number>(Math.max(lead, 0)).fill(0), ...strides];
  const own = padded.slice(0, -2);
  const [x, y] = padded.slice(-2);

  const kept = keptHeads(own.slice(1), layout.batch.slice(1), sharing);
  const B = sharing === 'broadcast' ? (own[0] ?? 1) : layout.B;
  const full = [B, ...kept.extents];
  const target = layout.batch.length === 0 ? [x, y] : [...full, x, y];
  const spread = target.map((_, d) => (padded[d] === 1 ? 0 : steps[d]));
  return writer.reshaped(writer.view(value, target, spread), [B, kept.H, x, y]);
}

/** The extents of the dimensions after the first, expanded if necessary, and their product. */
function keptHeads(
  own: readonly number[],
  full: readonly number[],
  sharing: Sharing,
): { readonly extents: readonly number[]; readonly H: number } {
  if (sharing !== 'exact' && own.every(n => n === 1)) return { extents: own, H: 1 };
  if (sharing === 'grouped') {
    // A group of neighbours shares a head if the first dimensions have full extents and all later ones are 1.
    const firstShared = own.findIndex((n, d) => n !== full[d]);
    const isGrouped = firstShared < 0 || own.slice(firstShared).every(n => n === 1);
    if (isGrouped) return { extents: own, H: elementCount(own) };
  }
  return { extents: full, H: elementCount(full) };
}

/**
 * Where to write a result with another shape so that it reaches `value`: to a view of `value`, or to a tensor
 * that `finish` copies to `value`.
 */
export function resultView(
  { view, temporary, copy, reshaped }: StepWriter,
  value: Value,
  shape: readonly number[],
): { readonly to: Value; finish(): void } {
  const strides = viewStrides(value.desc, shape);
  if (strides) return { to: view(value, shape, strides), finish: () => {} };
  const to = temporary(shape, value.desc.dtype);
  return { to, finish: () => copy(reshaped(to, value.desc.shape), value) };
}
