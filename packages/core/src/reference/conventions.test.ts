import { describe, expect, test } from 'vitest';
import { normal } from '../../testing/normal.ts';
import type { SdpaOptions } from '../attention/options/options.ts';
import { eq, kv, lt, q as queryIndex, score, select } from '../expr/build.ts';
import { scoreMod } from '../expr/mods/mod.ts';
import { Tensor } from '../tensor/tensor.ts';
import { sdpaBackwardFloat64 } from './backward.ts';
import { sdpaFloat64 } from './forward.ts';

/** Fills positions of the third dimension, from `from` on, with NaN and infinities. */
function poison(t: Tensor, b: number, from: number): void {
  const [, H, S, D] = t.shape;
  for (let h = 0; h < H; h++) {
    for (let s = from; s < S; s++) {
      for (let d = 0; d < D; d++) t.set([NaN, Infinity, -Infinity][d % 3], b, h, s, d);
    }
  }
}

function run(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options: SdpaOptions<Tensor>,
  dO = normal([...q.shape.slice(0, 3), v.shape[3]], 9),
) {
  const forward = sdpaFloat64(q, k, v, options);
  const { o, lse } = forward;
  return { forward, backward: sdpaBackwardFloat64({ q, k, v, o, lse, dO }, options) };
}

const single = {
  q: Tensor.from([1, 2], [1, 1, 2, 1]),
  k: Tensor.from([1, -1, 0.5], [1, 1, 3, 1]),
  v: Tensor.from([1, 2, 4], [1, 1, 3, 1]),
};
const maskOfAllButRow = (masked: number) =>
  Tensor.from(
    [0, 1].map(i => Number(i !== masked)),
    [2, 1],
    { dtype: 'bool' },
  );

describe('a row that sees no key', () => {
  test('has o = 0, lse = max = −∞, sumExp = 0 and zero gradients', () => {
    const { forward, backward } = run(single.q, single.k, single.v, { mask: maskOfAllButRow(0) });
    expect([forward.o, forward.lse, forward.max, forward.sumExp].map(t => t.values[0])).toEqual([
      0,
      -Infinity,
      -Infinity,
      0,
    ]);
    expect(backward.dq?.values[0]).toBe(0);
    const alone = run(
      single.q.slice(2, 1, 2),
      single.k,
      single.v,
      {},
      normal([1, 1, 2, 1], 9).slice(2, 1, 2),
    );
    expect([...(backward.dk?.values ?? [])]).toEqual([...(alone.backward.dk?.values ?? [NaN])]);
    expect([...(backward.dv?.values ?? [])]).toEqual([...(alone.backward.dv?.values ?? [NaN])]);
  });

  test('has only the sink, if there is one', () => {
    const sink = Tensor.from([-3], [1]);
    const { forward, backward } = run(single.q, single.k, single.v, { mask: maskOfAllButRow(1), sink });
    expect([forward.o, forward.lse, forward.max, forward.sumExp].map(t => t.values[1])).toEqual([
      0, -3, -3, 1,
    ]);
    const alone = run(
      single.q.slice(2, 0, 1),
      single.k,
      single.v,
      { sink },
      normal([1, 1, 2, 1], 9).slice(2, 0, 1),
    );
    expect(backward.dsink?.values[0]).toBe(alone.backward.dsink?.values[0]);
  });

  test('passes the gradient of its lse to the sink', () => {
    const options = { mask: maskOfAllButRow(1), sink: [-3] };
    const { o, lse } = sdpaFloat64(single.q, single.k, single.v, options);
    const dLse = Tensor.from([0, 5], [1, 1, 2]);
    const inputs = { ...single, o, lse, dO: Tensor.zeros([1, 1, 2, 1]), dLse };
    expect(sdpaBackwardFloat64(inputs, options).dsink?.values[0]).toBe(5);
  });

  test('sees no sink either, if it is beyond its sequence', () => {
    const { forward, backward } = run(single.q, single.k, single.v, { seqLensQ: [1], sink: [2] });
    expect([forward.o, forward.lse, forward.sumExp].map(t => t.values[1])).toEqual([0, -Infinity, 0]);
    expect(backward.dq?.values[1]).toBe(0);
  });

  test('also results from a bias or a score mod of −∞ on all keys', () => {
    const bias = Tensor.from([-Infinity, 0], [2, 1]);
    const mod = scoreMod(() => select(eq(queryIndex, 0), -Infinity, score));
    for (const options of [{ bias }, { scoreMod: mod }]) {
      const { forward, backward } = run(single.q, single.k, single.v, options);
      expect([forward.o.values[0], forward.lse.values[0], backward.dq?.values[0]]).toEqual([0, -Infinity, 0]);
      expect(forward.lse.values[1]).toBeCloseTo(Math.log(Math.exp(2) + Math.exp(-2) + Math.exp(1)), 12);
    }
  });

  test('exists when there are no keys at all', () => {
    const none = Tensor.zeros([1, 1, 0, 1]);
    const { o, lse } = sdpaFloat64(single.q, none, none);
    expect([...o.values, ...lse.values]).toEqual([0, 0, -Infinity, -Infinity]);
  });
});

describe('softmax results', () => {
  test('lse is the natural log, max and sumExp are its parts, and dropout leaves them alone', () => {
    const scores = [2, -2, 1];
    const options = { scale: 1, dropout: { p: 0.5, seed: 1 } };
    const { lse, max, sumExp } = sdpaFloat64(single.q, single.k, single.v, options);
    expect(max.values[1]).toBe(2);
    expect(sumExp.values[1]).toBeCloseTo(
      scores.reduce((sum, s) => sum + Math.exp(s - 2), 0),
      12,
    );
    expect(lse.values[1]).toBeCloseTo(Math.log(scores.reduce((sum, s) => sum + Math.exp(s), 0)), 12);
  });

  test('the sink takes part in all three', () => {
    const { lse, max, sumExp } = sdpaFloat64(single.q, single.k, single.v, { sink: [3] });
    expect(max.values[0]).toBe(3);
    expect(sumExp.values[0]).toBeCloseTo(1 + Math.exp(-2) + Math.exp(-4) + Math.exp(-2.5), 12);
    expect(lse.values[0]).toBeCloseTo(3 + Math.log(sumExp.values[0]), 12);
  });

  test('scores of hundreds and a row of small negative ones stay finite', () => {
    const q = Tensor.from([1000, -0.001], [1, 1, 2, 1]);
    const { o, lse } = sdpaFloat64(q, Tensor.from([1, 1, 1], [1, 1, 3, 1]), single.v);
    expect(lse.values[0]).toBeCloseTo(1000 + Math.log(3), 9);
    expect(lse.values[1]).toBeCloseTo(-0.001 + Math.log(3), 9);
    expect(o.values[0]).toBeCloseTo(7 / 3, 12);
  });

  test('scale 0 is the mean of the visible values', () => {
    const { o } = sdpaFloat64(single.q, single.k, single.v, { scale: 0, causal: true });
    expect([...o.values]).toEqual([1, 1.5]);
  });
});

describe('ALiBi', () => {
  test('subtracts slope times the distance from the diagonal key', () => {
    const flat = { q: Tensor.zeros([1, 1, 2, 1]), k: Tensor.zeros([1, 1, 3, 1]), v: single.v };
    const exps = (distances: readonly number[]) => distances.reduce((sum, d) => sum + Math.exp(-0.5 * d), 0);
    const both = sdpaFloat64(flat.q, flat.k, flat.v, { alibi: [0.5] });
    expect(both.lse.values[1]).toBeCloseTo(Math.log(exps([1, 0, 1])), 12);
    const bottomRight = sdpaFloat64(flat.q, flat.k, flat.v, { alibi: [0.5], causal: 'bottom-right' });
    expect(bottomRight.lse.values[0]).toBeCloseTo(Math.log(exps([1, 0])), 12);
    expect(bottomRight.lse.values[1]).toBeCloseTo(Math.log(exps([2, 1, 0])), 12);
  });

  test('uses the diagonal of a given alignment, even if nothing is masked', () => {
    const flat = {
      q: Tensor.zeros([2, 1, 2, 1]),
      k: Tensor.zeros([2, 1, 4, 1]),
      v: Tensor.zeros([2, 1, 4, 1]),
    };
    const { lse } = sdpaFloat64(flat.q, flat.k, flat.v, {
      alibi: [0.5],
      window: { align: 'bottom-right' },
      seqLensKv: [4, 3],
    });
    const expected = [
      [2, 1, 0, 1],
      [3, 2, 1, 0],
      [1, 0, 1],
      [2, 1, 0],
    ].map(distances => Math.log(distances.reduce((sum, d) => sum + Math.exp(-0.5 * d), 0)));
    expected.forEach((value, row) => {
      expect(lse.values[row]).toBeCloseTo(value, 12);
    });
  });
});

describe('garbage never leaks', () => {
  const lengths = { seqLensQ: [3, 2], seqLensKv: [4, 0] };

  test('from padding: results and gradients are those of clean padding', () => {
    const make = () => ({
      q: normal([2, 4, 4, 3], 1),
      k: normal([2, 2, 5, 3], 2),
      v: normal([2, 2, 5, 3], 3),
      dO: normal([2, 4, 4, 3], 4),
    });
    const clean = make();
    const dirty = make();
    for (const b of [0, 1]) {
      poison(dirty.q, b, lengths.seqLensQ[b]);
      poison(dirty.dO, b, lengths.seqLensQ[b]);
      poison(dirty.k, b, lengths.seqLensKv[b]);
      poison(dirty.v, b, lengths.seqLensKv[b]);
    }
    const options = { ...lengths, sink: [0, 1, 2, 3], bias: normal([4, 5], 5) };
    expect(run(dirty.q, dirty.k, dirty.v, options, dirty.dO)).toEqual(
      run(clean.q, clean.k, clean.v, options, clean.dO),
    );
  });

  test.each<[string, SdpaOptions<Tensor>]>([
    ['a boolean mask', { mask: Tensor.from([1, 1, 0], [3], { dtype: 'bool' }) }],
    ['a window', { window: { right: 0 } }],
    ['a bias of −∞', { bias: Tensor.from([0, 0, -Infinity], [3]) }],
    [
      'a score mod that replaces the score by −∞',
      { scoreMod: scoreMod(() => select(lt(kv, 2), score, -Infinity)) },
    ],
  ])('from keys that are hidden by %s', (_, options) => {
    const { q } = single;
    const k = Tensor.from([1, -1, NaN], [1, 1, 3, 1]);
    const v = Tensor.from([1, 2, NaN], [1, 1, 3, 1]);
    const { forward, backward } = run(q, k, v, options);
    const clean = run(q, single.k, single.v, options);
    expect(forward).toEqual(clean.forward);
    expect(backward).toEqual(clean.backward);
  });

  test('a visible NaN reaches the results', () => {
    const { o } = sdpaFloat64(single.q, single.k, Tensor.from([1, NaN, 2], [1, 1, 3, 1]), { causal: true });
    expect([...o.values]).toEqual([1, NaN]);
  });
});

test('a bias of −∞ has a gradient of 0', () => {
  const bias = Tensor.from([0, -Infinity, 0], [3]);
  const { backward } = run(single.q, single.k, single.v, { bias });
  expect(backward.dbias?.values[1]).toBe(0);
  expect(backward.dbias?.values[0]).not.toBe(0);
});
