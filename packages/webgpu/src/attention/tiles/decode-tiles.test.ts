import { normalise, type SdpaOptions, Tensor } from '@tilewise/core';
import { sdpa as exactSdpa } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { checkSupport, createContext, sdpa } from '../../index.ts';
import { subgroupTile, workgroupTile } from '../../subpaths/tiles.ts';
import { forwardShape } from '../kernels/forward/forward-shape.ts';
import type { Tile } from './tile.ts';

const { device, capabilities, tileKinds } = await sharedContext();
const { subgroupMinSize, subgroupMaxSize } = capabilities;
const tx = Math.max(2, Math.min(subgroupMinSize, 8));
const ty = Math.max(4, subgroupMaxSize / tx);

/**
 * Three queries in heads that form groups of four, whose rows share tiles; the keys are split into parts, and
 * one sequence has no keys.
 */
const heads = { q: normal([2, 8, 3, 10], 1), k: normal([2, 2, 600, 10], 2), v: normal([2, 2, 600, 10], 3) };
const options: SdpaOptions<Tensor> = {
  ...{ causal: 'bottom-right', seqLensKv: [533, 0] },
  outputs: { max: true, sumExp: true },
};
const asHalves = Object.fromEntries(
  Object.entries(heads).map(([name, t]) => [name, t.cast('f16')]),
) as typeof heads;

describe('few queries on a tile that a context chooses agree with the reference', () => {
  const cases: readonly (readonly [what: string, tile: Tile])[] = [
    ['larger than the table has', workgroupTile({ tx: 8, ty: 4, headDimChunk: 4, rows: 8, cols: 2 })],
    ['unrolled', workgroupTile({ tx: 32, ty: 1, headDimChunk: 1, unrolled: true })],
    ['with prefetch', workgroupTile({ tx: 16, ty: 2, headDimChunk: 3, prefetch: true })],
    ['with rows reduced in subgroups', workgroupTile({ tx, ty, headDimChunk: 4, rowReduction: 'subgroup' })],
    ['staged in f16', workgroupTile({ tx: 16, ty: 2, headDimChunk: 4, stagingDType: 'f16' })],
  ];
  for (const [what, tile] of cases) {
    const { q, k, v } = what.includes('f16') ? asHalves : heads;
    const { problem } = normalise({ q, k, v }, options);
    test.skipIf(tile.unsupported('decode', problem, capabilities) !== null)(what, async () => {
      const ctx = await createContext({ device, tiles: () => ({ decode: tile }) });
      expect(forwardShape(problem, ctx)).toMatchObject({ tile, heads: 4, parts: 2 });
      const results = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), options);
      const got: Record<string, Tensor> = {};
      for (const [name, tensor] of Object.entries(results)) got[name] = await ctx.download(tensor);
      expectAgreement(got, { ...exactSdpa(q, k, v, options) });
      ctx.destroy();
    });
  }
});

describe('the choice of a tile for few queries', () => {
  const { problem } = normalise(heads, options);
  const sizes = { tx: 8, ty: 4, headDimChunk: 4 };
  const tile = workgroupTile(sizes);

  test('differs from the choice for many queries', () => {
    const many = normalise({ ...heads, q: Tensor.zeros([2, 8, 17, 10]) }, options).problem;
    expect(
      forwardShape(problem, { capabilities, tileKinds, tiles: () => ({ forward: tile }) }).tile,
    ).not.toEqual(tile);
    expect(forwardShape(many, { capabilities, tileKinds, tiles: () => ({ decode: tile }) }).tile).not.toEqual(
      tile,
    );
    expect(forwardShape(many, { capabilities, tileKinds, tiles: () => ({ forward: tile }) }).tile).toEqual(
      tile,
    );
  });

  test('does not multiply in f16', () => {
    const half = workgroupTile({ ...sizes, stagingDType: 'f16', arithmetic: 'f16' });
    const able = { ...capabilities, features: ['shader-f16'] };
    expect(half.unsupported('decode', problem, able)).toMatch(/must multiply in f32 for few queries/);
  });

  test('is refused by name if no kernel can use it', async () => {
    const held = subgroupTile({ stationary: 'queries', lanes: 8, group: 4 });
    const ctx = await createContext({ device, tiles: () => ({ decode: held }) });
    const reason = 'tiles.decode must be of kind workgroup for few queries';
    expect(checkSupport(ctx, problem)).toEqual({ supported: false, reasons: [reason] });
    const [q, k, v] = [heads.q, heads.k, heads.v].map(t => ctx.upload(t));
    expect(() => sdpa(ctx, q, k, v, options)).toThrow(reason);
    ctx.destroy();
  });
});
