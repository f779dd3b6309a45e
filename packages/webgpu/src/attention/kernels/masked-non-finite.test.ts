import { type SdpaOptions, Tensor } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import {
  type AttentionCall,
  gpuResults,
  normal,
  type Results,
} from '../../../testing/attention/attention-call.ts';
import { expectSameBits } from '../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';

// More than three tiles of 32 queries and keys, with two query heads per key head.
const S = 100;
const shape = { q: [1, 2, S, 8], k: [1, 1, S, 8] };
const clean = {
  q: normal(shape.q, 1),
  k: normal(shape.k, 2),
  v: normal(shape.k, 3),
  dO: normal(shape.q, 4),
};

const run = async (call: AttentionCall): Promise<Results> => gpuResults(await sharedContext(), call);

/** A copy with NaN and infinities in the rows that `hidden` names; rows are counted along dimension `dim`. */
function withNonFinite(t: Tensor, hidden: (s: number) => boolean, dim = 2): Tensor {
  const copy = t.contiguous();
  for (let s = 0; s < t.shape[dim]; s++) {
    if (!hidden(s)) continue;
    let n = s;
    for (const at of copy.slice(dim, s, s + 1).offsets()) copy.data[at] = [NaN, Infinity, -Infinity][n++ % 3];
  }
  return copy;
}

const third = (s: number): boolean => s % 3 === 1;
const boolRow = (shown: (s: number) => boolean, shape: readonly number[]): Tensor =>
  Tensor.from(
    Array.from({ length: S }, (_, s) => Number(shown(s))),
    shape,
    { dtype: 'bool' },
  );

describe('NaN and infinities that no query sees change no bit', () => {
  const same = async (dirty: Partial<AttentionCall>, options: SdpaOptions): Promise<Results> => {
    const expected = await run({ ...clean, options });
    expectSameBits(await run({ ...clean, ...dirty, options }), expected);
    return expected;
  };

  test('in keys and values that a mask hides', async () => {
    const mask = boolRow(s => !third(s), [S]);
    const { o, dk } = await same(
      { k: withNonFinite(clean.k, third), v: withNonFinite(clean.v, third) },
      { mask },
    );
    expect(o.toFloat32().every(Number.isFinite)).toBe(true);
    expect([...dk.slice(2, 1, 2).toFloat32()]).toEqual(new Array(8).fill(0));
  });

  test('in keys and values that a bias of −∞ hides', async () => {
    const bias = Tensor.from(
      Array.from({ length: S }, (_, s) => (third(s) ? -Infinity : 0.5)),
      [S],
    );
    const options = { bias, gradients: ['dq', 'dk', 'dv'] } as const;
    await same({ k: withNonFinite(clean.k, third), v: withNonFinite(clean.v, third) }, options);
  });

  test('in queries that a mask leaves without keys, and in their dO', async () => {
    const mask = boolRow(s => !third(s), [S, 1]);
    const { o, lse, dq } = await same(
      { q: withNonFinite(clean.q, third), dO: withNonFinite(clean.dO, third) },
      { mask },
    );
    const row = (t: Tensor): number[] => [...t.slice(2, 1, 2).toFloat32()];
    expect(row(lse)).toEqual([-Infinity, -Infinity]);
    expect([row(o), row(dq)]).toEqual([new Array(16).fill(0), new Array(16).fill(0)]);
  });

  test('in keys and values right of every query of a causal mask', async () => {
    const [q, dO] = [clean.q, clean.dO].map(t => t.slice(2, 0, 45));
    const beyond = (s: number): boolean => s >= 45;
    const options: SdpaOptions = { causal: true };
    const expected = await run({ ...clean, q, dO, options });
    const dirty = { k: withNonFinite(clean.k, beyond), v: withNonFinite(clean.v, beyond) };
    expectSameBits(await run({ ...dirty, q, dO, options }), expected);
  });

  test('beyond the lengths of sequences', async () => {
    const [nq, nkv] = [70, 33];
    const dirty = {
      q: withNonFinite(clean.q, s => s >= nq),
      dO: withNonFinite(clean.dO, s => s >= nq),
      k: withNonFinite(clean.k, s => s >= nkv),
      v: withNonFinite(clean.v, s => s >= nkv),
    };
    const { dv } = await same(dirty, { seqLensQ: [nq], seqLensKv: [nkv] });
    expect(
      dv
        .slice(2, nkv, S)
        .toFloat32()
        .every(x => x === 0),
    ).toBe(true);
  });

  test('in other packed sequences, and after the last one', async () => {
    const packed = Object.fromEntries(
      Object.entries(clean).map(([name, t]) => [name, t.permute(0, 2, 1, 3).reshape([S, t.shape[1], 8])]),
    ) as unknown as typeof clean;
    const cuSeqLens = [0, 37, 50, 90];
    const options = { cuSeqLensQ: cuSeqLens, cuSeqLensKv: cuSeqLens };
    const hidden = (s: number): boolean => (s >= 37 && s < 50) || s >= 90;
    const dirty = Object.fromEntries(
      Object.entries(packed).map(([name, t]) => [name, withNonFinite(t, hidden, 0)]),
    ) as unknown as typeof clean;
    const expected = await run({ ...packed, options });
    const got = await run({ ...dirty, options });
    for (const [from, to] of [
      [0, 37],
      [50, 90],
    ]) {
      const part = (results: Results): Results =>
        Object.fromEntries(
          Object.entries(results).map(([name, t]) => [name, t.slice(name === 'lse' ? 1 : 0, from, to)]),
        );
      expectSameBits(part(got), part(expected));
    }
    for (const name of ['o', 'dq', 'dk', 'dv']) {
      expect(
        got[name]
          .slice(0, 90, S)
          .toFloat32()
          .every(x => x === 0),
        name,
      ).toBe(true);
    }
  });
});

// On the way to the result a NaN may become an infinity, because WGSL's functions may return anything for
// NaN, but it must not become a finite number.
describe('a visible NaN', () => {
  const at50 = (s: number): boolean => s === 50;
  const rows = (t: Tensor, from: number, to: number): number[] => [...t.slice(2, from, to).toFloat32()];

  test('in a value reaches the rows that see its key, and no others', async () => {
    const options: SdpaOptions = { causal: true };
    const expected = await run({ ...clean, options });
    const got = await run({ ...clean, v: withNonFinite(clean.v, at50), options });
    expect(rows(got.o, 0, 50)).toEqual(rows(expected.o, 0, 50));
    expect(rows(got.dq, 0, 50)).toEqual(rows(expected.dq, 0, 50));
    expect(rows(got.o, 50, S).some(Number.isFinite)).toBe(false);
    expect([...got.lse.toFloat32()]).toEqual([...expected.lse.toFloat32()]);
  });

  test('in a key reaches the rows that see it, and no others', async () => {
    const options: SdpaOptions = { causal: true };
    const k = clean.k.contiguous();
    k.set(NaN, 0, 0, 50, 3);
    const expected = await run({ ...clean, options });
    const got = await run({ ...clean, k, options });
    for (const name of ['o', 'lse', 'dq']) {
      expect(rows(got[name], 0, 50), name).toEqual(rows(expected[name], 0, 50));
      expect(rows(got[name], 50, S).some(Number.isFinite), name).toBe(false);
    }
  });

  test('in dO reaches its own row of dq, and the keys that the row sees', async () => {
    const dO = clean.dO.contiguous();
    dO.set(NaN, 0, 0, 50, 3);
    const options: SdpaOptions = { causal: true };
    const expected = await run({ ...clean, options });
    const { dq, dk, dv } = await run({ ...clean, dO, options });
    expect(rows(dq, 51, S)).toEqual(rows(expected.dq, 51, S));
    expect(rows(dq.slice(1, 0, 1), 50, 51).some(Number.isFinite)).toBe(false);
    expect(rows(dk, 51, S)).toEqual(rows(expected.dk, 51, S));
    expect(rows(dk, 0, 51).some(Number.isFinite)).toBe(false);
    expect(rows(dv.slice(3, 3, 4), 0, 51).some(Number.isFinite)).toBe(false);
    expect(rows(dv.slice(3, 4, 8), 0, S)).toEqual(rows(expected.dv.slice(3, 4, 8), 0, S));
  });
});
