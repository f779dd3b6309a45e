import { cumulativeLengths, normalise, type SdpaOptions, Tensor, toPages } from '@tilewise/core';
import { sdpa as exactSdpa } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { normal } from '../../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../../testing/device/shared-context.ts';
import { type GpuTensor, sdpa } from '../../../index.ts';
import { workgroupTile } from '../../../subpaths/tiles.ts';
import { tileSize } from '../../tiles/tile.ts';
import { forwardTiles } from '../../tiles/tile-table.ts';
import { forwardShape } from './forward-shape.ts';

interface Sizes {
  B?: number;
  Hq?: number;
  Hk?: number;
  Hv?: number;
  Sq?: number;
  Skv?: number;
  D?: number;
}

function shapeOf(
  { B = 1, Hq = 8, Hk = Hq, Hv = Hk, Sq = 1, Skv = 4096, D = 64 }: Sizes,
  options: SdpaOptions = {},
) {
  const desc = (H: number, S: number) => ({
    dtype: 'f32' as const,
    shape: [B, H, S, D],
    strides: [H * S * D, S * D, D, 1],
  });
  return forwardShape(
    normalise({ q: desc(Hq, Sq), k: desc(Hk, Skv), v: desc(Hv, Skv) }, options as object).problem,
  );
}

describe('the shape of a forward pass', () => {
  test('has one part and one head for many queries', () => {
    expect(shapeOf({ Sq: 4096, Hk: 1 })).toMatchObject({ heads: 1, parts: 1 });
  });

  test('puts the heads that share k and v into one tile for few queries', () => {
    expect(shapeOf({ Hk: 2 }).heads).toBe(4);
    expect(shapeOf({ Hk: 2, Hv: 4 }).heads).toBe(2);
    expect(shapeOf({ Hq: 6, Hk: 3, Hv: 2 }).heads).toBe(1);
    expect(shapeOf({ Hk: 2, Sq: 17 }).heads).toBe(1);
  });

  test('has no more rows than it needs', () => {
    const rows = (sizes: Sizes) => tileSize(shapeOf(sizes).tile.grid).rows;
    expect([1, 4, 5, 8, 9, 16, 17].map(Sq => rows({ Sq }))).toEqual([4, 4, 8, 8, 16, 16, 32]);
    expect(rows({ Sq: 2, Hk: 2 })).toBe(8);
  });

  test('splits long keys over workgroups until there are enough', () => {
    const parts = (sizes: Sizes, options?: SdpaOptions) => shapeOf(sizes, options).parts;
    expect(parts({ Skv: 511 })).toBe(1);
    expect(parts({ Skv: 512 })).toBe(2);
    expect(parts({ Skv: 131072 })).toBe(64);
    expect(parts({ Skv: 131072, Hq: 64 })).toBe(8);
    expect(parts({ Skv: 131072, Hq: 64, Hk: 8 })).toBe(64);
    expect(parts({ Skv: 131072, Hq: 64, B: 16 })).toBe(1);
    expect(parts({ Skv: 131072 }, { window: { left: 64, right: 0 } })).toBe(1);
    expect(parts({ Skv: 0 })).toBe(1);
    expect(parts({ Sq: 0 })).toBe(1);
  });

  test('fits into the workgroup memory that WebGPU guarantees', () => {
    for (const {
      sizes,
      upTo: { Dv },
    } of forwardTiles)
      expect(workgroupTile(sizes).workgroupMemory('forward', { Dqk: Dv, Dv })).toBeLessThanOrEqual(16384);
  });
});

/** A case of decoding; the 600 keys are split into parts. */
interface DecodeCase {
  readonly Sq: number;
  readonly heads: readonly [Hq: number, Hk: number, Hv: number];
  readonly dtype?: 'f32' | 'f16' | 'bf16';
  readonly D?: readonly [number, number];
  readonly options?: (make: {
    readonly mask: Tensor;
    readonly bias: Tensor;
    readonly dropoutMask: Tensor;
  }) => SdpaOptions<Tensor>;
}

const cases: Readonly<Record<string, DecodeCase>> = {
  'one query': { Sq: 1, heads: [2, 2, 2] },
  'heads in groups': { Sq: 2, heads: [8, 2, 4], dtype: 'f16' },
  'many rows and odd head sizes': { Sq: 7, heads: [4, 2, 1], D: [5, 7] },
  'more rows than a tile has': { Sq: 13, heads: [6, 1, 1], dtype: 'bf16' },
  'all row results and a sink': {
    Sq: 3,
    heads: [4, 2, 2],
    options: () => ({
      ...{ sink: [0.5, -3, 9, 0], outputs: { max: true, sumExp: true }, seqLensKv: [600, 0] },
      ...{ seqLensQ: [3, 2], causal: 'bottom-right' },
    }),
  },
  'every score stage': {
    Sq: 3,
    heads: [4, 2, 2],
    options: ({ mask, bias }) => ({ mask, bias, softcap: 4, alibi: true, seqLensKv: [600, 311] }),
  },
  'a window': {
    Sq: 4,
    heads: [4, 2, 2],
    options: () => ({ causal: 'bottom-right', window: { left: 540 }, outputs: { max: true } }),
  },
  dropout: { Sq: 2, heads: [4, 2, 2], options: () => ({ dropout: { p: 0.4, seed: 11n, offset: 5n } }) },
  'a dropout mask': {
    Sq: 2,
    heads: [4, 2, 2],
    options: ({ dropoutMask }) => ({ dropout: { mask: dropoutMask, scale: 2 } }),
  },
};

describe('few queries against many keys agree with the reference', () => {
  const [B, Skv] = [2, 600];
  test.each(Object.entries(cases))(
    'with %s',
    async (_, { Sq, heads, dtype = 'f32', D = [8, 8], options }) => {
      const ctx = await sharedContext();
      const [Hq, Hk, Hv] = heads;
      const q = normal([B, Hq, Sq, D[0]], 1, dtype);
      const k = normal([B, Hk, Skv, D[0]], 2, dtype);
      const v = normal([B, Hv, Skv, D[1]], 3, dtype);
      const drawn = (seed: number, shape: readonly number[]) =>
        Tensor.from(
          normal(shape, seed)
            .toFloat32()
            .map(x => Number(x > 0)),
          shape,
          { dtype: 'bool' },
        );
      const given = options?.({
        mask: drawn(4, [B, 1, Sq, Skv]),
        bias: normal([Hq, 1, Skv], 5),
        dropoutMask: drawn(6, [B, Hq, Sq, Skv]),
      });
      const { problem } = normalise({ q, k, v }, given);
      expect(forwardShape(problem).parts).toBeGreaterThan(1);
      const got = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), given);
      const results: Record<string, Tensor> = {};
      for (const [name, tensor] of Object.entries(got))
        results[name] = await ctx.download(tensor as GpuTensor);
      expectAgreement(results, { ...exactSdpa(q, k, v, given) });
    },
  );

  test('in pages that sequences share', async () => {
    const ctx = await sharedContext();
    const q = normal([B, 4, 2, 8], 1);
    const [k, v] = [2, 3].map(seed => normal([1, 2, Skv, 8], seed));
    const [pagedK, pagedV] = [toPages(k, 16, (_, page) => (page * 7) % 38), toPages(v, 64)];
    const options = { seqLensKv: [Skv, 570], causal: 'bottom-right', maxSeqLenKv: Skv } as const;
    const twice = ({ data, shape }: Tensor) =>
      Tensor.from([...data, ...data].map(Number), [B, shape[1]], { dtype: 'i32' });
    const { o, lse } = sdpa(ctx, ctx.upload(q), ctx.upload(pagedK.container), ctx.upload(pagedV.container), {
      ...options,
      ...{ pageTableK: twice(pagedK.table), pageTableV: twice(pagedV.table) },
    });
    const both = (t: Tensor) => t.expand([B, 2, Skv, 8]);
    const { maxSeqLenKv, ...dense } = options;
    const exact = exactSdpa(q, both(k), both(v), dense);
    expectAgreement({ o: await ctx.download(o), lse: await ctx.download(lse) }, { ...exact });
  });

  test('packed, with sequences without a query', async () => {
    const ctx = await sharedContext();
    const lengthsKv = [600, 0, 37, 520];
    const cuSeqLensQ = cumulativeLengths([2, 1, 0, 3]);
    const cuSeqLensKv = cumulativeLengths(lengthsKv);
    const q = normal([6, 4, 8], 1);
    const [k, v] = [2, 3].map(seed => normal([1157, 2, 8], seed));
    const options = { cuSeqLensQ, cuSeqLensKv, causal: 'bottom-right' } as const;
    const { o, lse } = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), options);
    const exact = exactSdpa(q, k, v, options);
    expectAgreement({ o: await ctx.download(o), lse: await ctx.download(lse) }, { ...exact });
  });

  test('with a block mask', async () => {
    const ctx = await sharedContext();
    const q = normal([1, 4, 2, 8], 1);
    const [k, v] = [2, 3].map(seed => normal([1, 2, Skv, 8], seed));
    // Each head sees a different subset of the five key blocks.
    const blockMask = Tensor.from([0b10101, 0b01010, 0, 0b11111], [1, 4, 1, 1], { dtype: 'u8' });
    const { o, lse } = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), { blockMask });
    const exact = exactSdpa(q, k, v, { blockMask });
    expectAgreement({ o: await ctx.download(o), lse: await ctx.download(lse) }, { ...exact });
  });
});
