import { describe, expect, it } from 'vitest';
import { Tensor } from '../tensor/tensor.ts';
import { asBhsd, type DenseLayout, fromBhsd } from './dense.ts';
import { type KvLayout, type QkvLayout, splitKv, splitQkv } from './interleaved.ts';

const [B, H, S, D] = [2, 3, 4, 5];
const extents: Readonly<Record<string, number>> = { b: B, h: H, s: S, d: D, t: S, 2: 2, 3: 3 };
const weights: Readonly<Record<string, number>> = { d: 1, s: 10, t: 10, h: 100, b: 1000, 2: 10000, 3: 10000 };

/**
 * A tensor with the dimensions of `layout`. The decimal digits of each element spell its index: part, b, h,
 * s, d.
 */
function spelled(layout: string): Tensor {
  let values = [0];
  for (const letter of layout) {
    values = values.flatMap(v => Array.from({ length: extents[letter] }, (_, i) => v + i * weights[letter]));
  }
  return Tensor.from(
    values,
    Array.from(layout, letter => extents[letter]),
    { dtype: 'i32' },
  );
}

describe('dense layouts', () => {
  it.each<DenseLayout>(['bhsd', 'bshd', 'sbhd'])('%s is seen as (B, H, S, D)', layout => {
    const stored = spelled(layout);
    const t = asBhsd(stored, layout);
    expect(t.data).toBe(stored.data);
    expect(t.toFloat32()).toEqual(spelled('bhsd').toFloat32());
    expect(fromBhsd(t, layout).strides).toEqual(stored.strides);
  });

  it('names the shape that a layout has', () => {
    expect(() => asBhsd(Tensor.zeros([2, 3]), 'bshd')).toThrow(
      /^t must have shape \(B, S, H, D\), got \[2,3\]/,
    );
  });
});

describe('interleaved layouts', () => {
  it.each<QkvLayout>(['bs3hd', 'b3shd', 'b3hsd', 'bsh3d', 'sb3hd', 'sbh3d'])(
    '%s holds q, k and v',
    layout => {
      const stored = spelled(layout);
      const { q, k, v } = splitQkv(stored, layout);
      const expected = spelled('bhsd').toFloat32();
      [q, k, v].forEach((t, part) => {
        expect(t.data).toBe(stored.data);
        expect(t.shape).toEqual([B, H, S, D]);
        expect(t.toFloat32()).toEqual(expected.map(x => x + part * 10000));
      });
    },
  );

  it.each<QkvLayout>(['t3hd', 'th3d'])('%s holds packed q, k and v', layout => {
    const { v } = splitQkv(spelled(layout), layout);
    expect(v.toFloat32()).toEqual(
      spelled('thd')
        .toFloat32()
        .map(x => x + 20000),
    );
  });

  it.each<KvLayout>(['bs2hd', 'b2shd', 'b2hsd', 'bsh2d', 'sb2hd', 'sbh2d'])('%s holds k and v', layout => {
    const { k, v } = splitKv(spelled(layout), layout);
    expect(k.toFloat32()).toEqual(spelled('bhsd').toFloat32());
    expect(v.toFloat32()).toEqual(
      spelled('bhsd')
        .toFloat32()
        .map(x => x + 10000),
    );
  });

  it('has the strides and offsets that cuDNN gives', () => {
    const bs3hd = splitQkv(spelled('bs3hd'), 'bs3hd');
    expect(bs3hd.q.strides).toEqual([3 * S * H * D, D, 3 * H * D, 1]);
    expect([bs3hd.q, bs3hd.k, bs3hd.v].map(t => t.offset)).toEqual([0, H * D, 2 * H * D]);
    const sbh3d = splitQkv(spelled('sbh3d'), 'sbh3d');
    expect(sbh3d.q.strides).toEqual([3 * H * D, 3 * D, B * 3 * H * D, 1]);
    expect([sbh3d.q, sbh3d.k, sbh3d.v].map(t => t.offset)).toEqual([0, D, 2 * D]);
  });

  it('allows a gradient to be written in place', () => {
    const dqkv = Tensor.zeros([1, 2, 3, 1, 1]);
    splitQkv(dqkv, 'bs3hd').k.set(7, 0, 0, 1, 0);
    expect(Array.from(dqkv.data)).toEqual([0, 0, 0, 0, 7, 0]);
  });

  it('splits views with gaps', () => {
    const wide = Tensor.from(spelled('bs3hd').toFloat32(), [B, S, 3, H, D], {
      strides: [1000, 200, 60, 9, 1],
    });
    expect(splitQkv(wide, 'bs3hd').k.toFloat32()).toEqual(splitQkv(spelled('bs3hd'), 'bs3hd').k.toFloat32());
  });

  it('names the dimension that does not fit', () => {
    expect(() => splitQkv(Tensor.zeros([2, 4, 2, 3, 5]), 'bs3hd')).toThrow(
      /^qkv must have extent 3 in dimension 2, got \[2,4,2,3,5\]/,
    );
    expect(() => splitKv(Tensor.zeros([2, 4, 30]), 'bs2hd')).toThrow(/^kv must have shape \(B, S, 2, H, D\)/);
  });
});
