import { checkOneOf, InvalidShapeError } from '../errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { checkAxes, reorder } from './axes.ts';

const qkvLayouts = ['bs3hd', 'b3shd', 'b3hsd', 'bsh3d', 'sb3hd', 'sbh3d', 't3hd', 'th3d'] as const;
const kvLayouts = ['bs2hd', 'b2shd', 'b2hsd', 'bsh2d', 'sb2hd', 'sbh2d', 't2hd', 'th2d'] as const;

/**
 * How q, k and v are interleaved in one tensor: its dimensions, with 3 for the dimension that chooses between
 * q, k and v. Layouts with `t` are packed: the sequences are stored one after the other.
 */
export type QkvLayout = (typeof qkvLayouts)[number];

/**
 * How k and v are interleaved in one tensor, beside a q with more heads: its dimensions, with 2 for the
 * dimension that chooses between k and v.
 */
export type KvLayout = (typeof kvLayouts)[number];

/**
 * The q, k and v of an interleaved tensor, as (B, H, S, D), or (T, H, D) from a packed one. They are views,
 * so gradients may be written through the views of a tensor made for them. From `bs3hd`, strides are
 * (3·S·H·D, D, 3·H·D, 1), and q, k and v start H·D apart; from `sbh3d`, (3·H·D, 3·D, B·3·H·D, 1) and D apart.
 * @throws InvalidShapeError if the rank is wrong, or the interleaved dimension is not 3; InvalidArgumentError
 * for an unknown layout.
 */
export function splitQkv(qkv: Tensor, layout: QkvLayout): { q: Tensor; k: Tensor; v: Tensor } {
  checkOneOf('layout', layout, qkvLayouts);
  const [q, k, v] = split('qkv', qkv, layout, '3');
  return { q, k, v };
}

/**
 * The k and v of an interleaved tensor, as (B, H, S, D), or (T, H, D) from a packed one. They are views, as
 * in `splitQkv`.
 * @throws InvalidShapeError if the rank is wrong, or the interleaved dimension is not 2; InvalidArgumentError
 * for an unknown layout.
 */
export function splitKv(kv: Tensor, layout: KvLayout): { k: Tensor; v: Tensor } {
  checkOneOf('layout', layout, kvLayouts);
  const [k, v] = split('kv', kv, layout, '2');
  return { k, v };
}

function split(argument: string, t: Tensor, layout: string, parts: '2' | '3'): Tensor[] {
  checkAxes(argument, t, Array.from(layout.toUpperCase()));
  const axis = layout.indexOf(parts);
  if (t.shape[axis] !== Number(parts)) {
    throw new InvalidShapeError(argument, `must have extent ${parts} in dimension ${axis}, got [${t.shape}]`);
  }
  const rest = layout.replace(parts, '');
  const shape = t.shape.filter((_, d) => d !== axis);
  return Array.from({ length: Number(parts) }, (_, n) =>
    reorder(argument, t.slice(axis, n, n + 1).reshape(shape), rest, rest.includes('t') ? 'thd' : 'bhsd'),
  );
}
