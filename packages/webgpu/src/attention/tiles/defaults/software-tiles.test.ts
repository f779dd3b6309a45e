import { normaliseBackward, Tensor } from '@tilewise/core';
import { sdpaBackward as referenceBackward, sdpa as referenceSdpa } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { normal } from '../../../../testing/attention/attention-call.ts';
import { sharedContext } from '../../../../testing/device/shared-context.ts';
import { guaranteedCapabilities, sdpa, sdpaBackward } from '../../../index.ts';
import { loadTileKinds } from '../../../runtime/tile-kinds/load-tile-kinds.ts';
import { tileSize } from '../tile.ts';
import { backwardTiles, defaultTile } from '../tile-table.ts';

const callOf = (D: number) => ({
  ...{ q: normal([2, 4, 37, D], 1), k: normal([2, 2, 41, D], 2), v: normal([2, 2, 41, D], 3) },
  dO: normal([2, 4, 37, D], 4),
});
const options = { causal: 'bottom-right', dropout: { p: 0.2, seed: 7, offset: 0 } } as const;

test.each([
  ['mesa software', 8, true],
  ['google swiftshader', 5, true],
  ['mesa software', 12, false],
  ['nvidia ampere', 8, false],
])('on %s, heads of %i channels have narrow tiles: %s', async (adapter, D, isNarrow) => {
  const capabilities = { ...guaranteedCapabilities, adapter };
  const { q, k, v, dO } = callOf(D);
  const lse = Tensor.zeros([2, 4, 37]);
  const { problem } = normaliseBackward({ q, k, v, o: dO, lse, dO }, options);
  const tileKinds = await loadTileKinds(capabilities);
  const { dq, dkdv } = backwardTiles(problem, { capabilities, tileKinds });
  expect([dq.grid.tx, dkdv.grid.tx].every(tx => tx === 2)).toBe(isNarrow);
  const { rows, cols } = tileSize(dkdv.grid);
  expect(rows).toBe(cols);
  const elsewhere = backwardTiles(problem, { capabilities });
  expect([elsewhere.dq, elsewhere.dkdv]).toEqual([defaultTile, defaultTile]);
});

test.each([
  [4, true],
  [8, false],
])('few queries in groups of %i lanes have narrow tiles: %s', async (subgroupMinSize, isNarrow) => {
  const capabilities = { ...guaranteedCapabilities, adapter: 'mesa software', subgroupMinSize };
  const q = Tensor.zeros([1, 2, 16, 8]);
  const { problem } = normaliseBackward({ q, k: q, v: q, o: q, lse: Tensor.zeros([1, 2, 16]), dO: q }, {});
  const { dq } = backwardTiles(problem, { capabilities, tileKinds: await loadTileKinds(capabilities) });
  expect(dq.grid.tx === 2).toBe(isNarrow);
});

test('heads of few channels have the results of the reference, with a mask, groups and dropout', async () => {
  const ctx = await sharedContext();
  const { q, k, v, dO } = callOf(7);
  const expected = referenceSdpa(q, k, v, options);
  const gradients = referenceBackward({ q, k, v, ...expected, dO }, options);
  const [gq, gk, gv, gdO] = [q, k, v, dO].map(tensor => ctx.upload(tensor));
  const { o, lse } = sdpa(ctx, gq, gk, gv, options);
  const { dq, dk, dv } = sdpaBackward(ctx, { q: gq, k: gk, v: gv, o, lse, dO: gdO }, options);
  for (const [name, got, wanted] of [
    ['o', o, expected.o],
    ['dq', dq, gradients.dq],
    ['dk', dk, gradients.dk],
    ['dv', dv, gradients.dv],
  ] as const) {
    const values = wanted.toFloat32();
    const largest = values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    (await ctx.download(got)).toFloat32().forEach((x, n) => {
      expect(Math.abs(x - values[n]), `${name} at ${n}`).toBeLessThanOrEqual(1e-5 * largest);
    });
  }
});
