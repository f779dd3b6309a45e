import { type SdpaOptions, Tensor } from '@tilewise/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AttentionCall,
  exactResults,
  gpuForward,
  gpuResults,
  normal,
} from '../../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../../testing/attention/expect-agreement.ts';
import { tilesOfMatrices } from '../../../../testing/attention/tile-kinds.ts';
import { sharedContext } from '../../../../testing/device/shared-context.ts';
import { createContext, type GpuContext } from '../../../index.ts';

// Three to five tiles of keys, and two or three of queries.
const shape = [1, 1, 70, 16];
const [S, D] = [70, 16];
const call: AttentionCall = {
  ...{ q: normal(shape, 1), k: normal(shape, 2), v: normal(shape, 3), dO: normal(shape, 4) },
  options: { causal: true },
};

/** Scales row s of a tensor by `by(s)`. */
const scaled = (t: Tensor, by: (s: number) => number): Tensor =>
  Tensor.from(
    t.toFloat32().map((x, n) => x * by(Math.floor(n / D))),
    t.shape,
  );

/** The tensor with four NaNs behind each row. */
function withGaps(t: Tensor): Tensor {
  const [, , rows, channels] = t.shape;
  const pitch = channels + 4;
  const spread = Tensor.from(t.toFloat32(), t.shape, { strides: [rows * pitch, rows * pitch, pitch, 1] });
  return Tensor.wrap(
    spread.data.map((x, n) => (n % pitch < channels ? Number(x) : Number.NaN)),
    spread,
  );
}

describe.each([16, 32] as const)('subgroups that hold %i queries', heldRows => {
  // Tiles whose keys stay are the same for both numbers of queries.
  const gradients = heldRows === 16 ? (['dq', 'dk', 'dv'] as const) : (['dq'] as const);
  let ctx: GpuContext;
  beforeAll(async () => {
    const { device } = await sharedContext();
    const matrix = { M: 16, N: 16, K: 16, component: 'f32' } as const;
    ctx = await createContext({ device, tiles: tilesOfMatrices(matrix, 2, { plain: true, heldRows }) });
  });
  afterAll(() => ctx.destroy());

  test('rows are rescaled if a tile has scores far above the earlier ones', async () => {
    const q = Tensor.from(new Array(S * D).fill(1), shape);
    // The scores are 4 times these factors: first about 0, then 20, then 60, and finally 16.
    const k = scaled(q, s => [0, 5, 15, 4][Math.floor(s / 20)] + (s % 7) / 10);
    const { o, lse } = exactResults({ ...call, q, k });
    expectAgreement(await gpuForward(ctx, { ...call, q, k }), { o, lse });
  });

  test('keys with a bias of the lowest number count only in rows that see no others', async () => {
    // As models pad: the rows of the first tiles see only such keys.
    const bias = Tensor.from(
      Array.from({ length: S }, (_, s) => (s < 40 ? -3.4028234663852886e38 : 0)),
      [S],
    );
    const padded = { ...call, options: { ...call.options, bias } };
    const { o, lse } = exactResults(padded);
    expectAgreement(await gpuForward(ctx, padded), { o, lse });
  });

  // Tiles of 16 or 32 keys, more than a kernel computes before it looks for deferred rows.
  const [Sq, Skv] = [70, 700];
  const seen = Array.from({ length: Skv }, (_, s) => s % 9 !== 5);
  const mask = Tensor.from(seen.map(Number), [Skv], { dtype: 'bool' });
  test.each<[string, SdpaOptions]>([
    ['all keys', {}],
    ['causal', { causal: 'bottom-right' }],
    ['a window', { causal: 'bottom-right', window: { left: 500 } }],
    ['a mask that hides garbage', { mask }],
  ])('rows are deferred, one after the other, and computed again: %s', async (_, options) => {
    const ones = (S: number): Tensor => Tensor.from(new Array(S * D).fill(1), [1, 1, S, D]);
    const q = scaled(ones(Sq), s => (s % 4) / 3);
    // The scores of a row grow, at most by 20 from a tile to the next, and fall at the end.
    const k = scaled(ones(Skv), s => {
      const step = Math.floor(s / 40);
      return (step < 14 ? step * (1 + (step % 3)) : 4) + (s % 7) / 10;
    });
    const long = { q, k, v: normal([1, 1, Skv, D], 5), dO: normal([1, 1, Sq, D], 6), options };
    const { o, lse } = exactResults(long);
    const v = options.mask ? scaled(long.v, s => (seen[s] ? 1 : Number.NaN)) : long.v;
    expectAgreement(await gpuForward(ctx, { ...long, v }), { o, lse });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'a key that is %d makes the rows NaN that see the key',
    async garbage => {
      const seen = 20;
      const k = call.k.contiguous();
      for (let d = 0; d < D; d++) k.set(garbage, 0, 0, seen, d);
      const q = Tensor.from(new Array(S * D).fill(1), shape);
      const exact = exactResults({ ...call, q });
      const got = await gpuForward(ctx, { ...call, q, k });
      for (const [name, width] of [
        ['o', D],
        ['lse', 1],
      ] as const) {
        const [values, clean] = [got[name].toFloat32(), exact[name].toFloat32()];
        values.forEach((x, n) => {
          if (n / width >= seen) expect(x, `${name}, element ${n}`).toBeNaN();
          else expect(x, `${name}, element ${n}`).toBeCloseTo(clean[n], 4);
        });
      }
    },
  );

  test('scores close to the largest number mark no row', async () => {
    const q = Tensor.from(new Array(S * D).fill(1e19), shape);
    const k = scaled(Tensor.from(new Array(S * D).fill(1e18), shape), s => 1 - (s % 7) / 4);
    const { o, lse } = exactResults({ ...call, q, k });
    expectAgreement(await gpuForward(ctx, { ...call, q, k }), { o, lse });
  });

  test('garbage that some rows see reaches only these rows', async () => {
    const seen = 50;
    const v = call.v.contiguous();
    v.set(Number.NaN, 0, 0, seen, 3);
    v.set(Number.POSITIVE_INFINITY, 0, 0, seen, 9);
    const exact = exactResults(call);
    const { o } = await gpuForward(ctx, { ...call, v });
    const [got, want] = [o.toFloat32(), exact.o.toFloat32()];
    for (let n = 0; n < S * D; n++) {
      if (n / D >= seen && [3, 9].includes(n % D))
        expect(Number.isFinite(got[n]), `element ${n}`).toBe(false);
      else expect(got[n], `element ${n}`).toBeCloseTo(want[n], 4);
    }
  });

  test('garbage that no query sees reaches no gradient', async () => {
    const hidden = Array.from({ length: S }, (_, s) => s % 3 === 1);
    const mask = Tensor.from(
      hidden.map(h => Number(!h)),
      [S],
      { dtype: 'bool' },
    );
    const options = { mask, gradients };
    const exact = exactResults({ ...call, options });
    const [k, v] = [call.k, call.v].map(t => scaled(t, s => (hidden[s] ? Number.NaN : 1)));
    expectAgreement(await gpuResults(ctx, { ...call, k, v, options }, exact), exact);
  });

  test('rows after hidden blocks belong to their own tile', async () => {
    const long = [1, 1, 384, 16];
    const [q, k, v, dO] = [5, 6, 7, 8].map(seed => normal(long, seed));
    // Of three blocks of 128 keys, queries see the first and last, the last two, and the first.
    const blockMask = Tensor.from([0b101, 0b110, 0b001], [1, 1, 3, 1], { dtype: 'u8' });
    const hidden = { q, k, v, dO, options: { blockMask, gradients } };
    const exact = exactResults(hidden);
    expectAgreement(await gpuResults(ctx, hidden, exact), exact);
  });
});

test.each([16, 32] as const)(
  'subgroups that hold %i queries have heads that end within a matrix, and lanes that do not divide the vectors to fetch',
  async heldRows => {
    const { device } = await sharedContext();
    const matrix = { M: 16, N: 8, K: 16, component: 'f32' } as const;
    const ctx = await createContext({ device, tiles: tilesOfMatrices(matrix, 3, { plain: true, heldRows }) });
    const odd = [1, 1, 50, 20];
    const [q, k, v, dO] = [9, 10, 11, 12].map(seed => withGaps(normal(odd, seed)));
    const options = { gradients: ['dq'] } as const;
    const exact = exactResults({ q, k, v, dO, options });
    expectAgreement(await gpuResults(ctx, { q, k, v, dO, options }, exact), exact);
    ctx.destroy();
  },
);
