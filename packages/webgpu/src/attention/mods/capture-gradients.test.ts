import { type DType, normalise, normaliseBackward, Tensor } from '@tilewise/core';
import * as e from '@tilewise/core/expr';
import { describe, expect, test } from 'vitest';
import {
  type AttentionCall,
  exactResults,
  gpuResults,
  normal,
} from '../../../testing/attention/attention-call.ts';
import { expectAgreement, expectSameBits } from '../../../testing/attention/expect-agreement.ts';
import { callersDevice } from '../../../testing/device/device-buffers.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { allTools } from '../../api/tools/all-tools.ts';
import { guaranteedCapabilities } from '../../device/capabilities/capabilities.ts';
import { checkSupport, createContext, sdpaVjp } from '../../index.ts';
import { subgroupTile, workgroupTile } from '../../subpaths/tiles.ts';
import { backwardTensors } from '../plan/tensors.ts';
import { defaultTile } from '../tiles/tile-table.ts';

const { add, load, mul, sub } = e;
const [B, H, S, D] = [2, 4, 70, 8];
const tensors = {
  q: normal([B, H, S, D], 1),
  k: normal([B, 2, S, D], 2),
  v: normal([B, 2, S, D], 3),
  dO: normal([B, H, S, D], 4),
};

async function expectReference(
  scoreMod: e.Mod<Tensor>,
  options: AttentionCall['options'] = {},
  inputs: Omit<AttentionCall, 'options'> = tensors,
  distance = 1,
): Promise<ReturnType<typeof exactResults>> {
  const call = { ...inputs, options: { gradients: ['dq'], ...options, scoreMod } } as const;
  const exact = exactResults(call);
  const got = await gpuResults(await sharedContext(), call, exact);
  expectAgreement(got, exact, { distance });
  return got;
}

describe('gradients of the tensors that a score mod captures', () => {
  test('a bias by relative position and head', async () => {
    const got = await expectReference(e.relativeBiasMod(normal([H, 41], 5)), { causal: true });
    expect(got['dCaptures.relativeBias'].shape).toEqual([H, 41]);
  });

  test('one number for each head, to which most scores of a tile add', async () => {
    await expectReference(e.alibiMod(normal([H], 6)), {}, tensors, S);
  });

  test('a number for each pair, of which each element gets one share', async () => {
    const scoreMod = e.scoreMod(({ score, q, kv }) => add(score, load('bias', [q, kv])), {
      bias: normal([S, S], 7),
    });
    await expectReference(scoreMod, { softcap: 4, bias: normal([1, S], 8), maskMod: e.dilatedMask(2) });
  });

  test('several tensors, one read in two places, and functions of score and element', async () => {
    const rows = normal([B, S], 9, 'f16');
    const gain = normal([1], 10);
    const scoreMod = e.scoreMod(
      ({ score, b, q, kv }) =>
        add(
          mul(load('gain', [0]), e.tanh(score)),
          mul(load('rows', [b, q]), sub(load('rows', [b, kv]), mul(0.1, score))),
        ),
      { rows, gain },
    );
    const got = await expectReference(scoreMod, { dropout: { p: 0.2, seed: 3 } });
    expect(got['dCaptures.rows'].dtype).toBe('f16');
  });

  test('tensors with names that the kernels use themselves', async () => {
    const scoreMod = e.scoreMod(
      ({ score, q, kv }) =>
        add(mul(load('vectors', [q]), score), mul(load('partial0', [kv]), load('table', [kv]))),
      { vectors: normal([S], 15), partial0: normal([S], 16), table: normal([S], 17) },
    );
    await expectReference(scoreMod, {}, tensors, 4);
  });

  test('a load under a condition has no gradient where the condition does not hold', async () => {
    const scoreMod = e.scoreMod(
      ({ score, q, kv }) => e.select(e.ge(q, kv), add(score, load('table', [sub(q, kv)])), score),
      { table: normal([S], 11) },
    );
    await expectReference(scoreMod);
  });

  test('a NaN in dO reaches the elements that its query loads, and no others', async () => {
    const values = tensors.dO.toFloat32();
    values[30 * D] = Number.NaN;
    const dO = Tensor.from(values, [B, H, S, D]);
    const scoreMod = e.relativeBiasMod(normal([H, 41], 5));
    const call = { ...tensors, dO, options: { causal: true, scoreMod } };
    const exact = exactResults(call);
    const got = await gpuResults(await sharedContext(), call, exact);
    const nans = (t: Tensor): boolean[] => Array.from(t.toFloat64(), Number.isNaN);
    const wanted = nans(exact['dCaptures.relativeBias']);
    expect(wanted).toContain(true);
    expect(wanted).toContain(false);
    expect(nans(got['dCaptures.relativeBias'])).toEqual(wanted);
  });

  test('tensors that a mask mod reads, or that have no influence, get no gradient or zeros', async () => {
    const scoreMod = e.scoreMod(
      ({ score, kv }) => add(score, e.select(e.gt(load('unused', [kv]), 0), 1, 0.5)),
      { unused: normal([S], 12) },
    );
    const maskMod = e.maskMod(({ kv }) => e.gt(load('level', [kv]), -1), { level: normal([S], 13) });
    const got = await expectReference(scoreMod, { maskMod });
    expect(Object.keys(got)).not.toContain('dCaptures.level');
    expect(got['dCaptures.unused'].toFloat32().every(x => x === 0)).toBe(true);
  });

  test.each<DType>(['bf16'])('packed sequences, stored as %s', async dtype => {
    const packed = (heads: number, seed: number): Tensor => normal([S, heads, D], seed, dtype);
    await expectReference(
      e.relativeBiasMod(normal([H, 21], 14, dtype)),
      { cuSeqLensQ: [0, 33, 33, 70], cuSeqLensKv: [0, 20, 30, 64], causal: 'bottom-right' },
      { q: packed(H, 1), k: packed(2, 2), v: packed(2, 3), dO: packed(H, 4) },
    );
  });
});

test('two runs give the same bits', async () => {
  const ctx = await sharedContext();
  const scoreMod = e.relativeBiasMod(normal([H, 7], 5));
  const call = { ...tensors, options: { scoreMod } };
  expectSameBits(await gpuResults(ctx, call), await gpuResults(ctx, call));
});

test('sdpaVjp gives the gradients of captured tensors', async () => {
  const ctx = await sharedContext();
  const [q, k, v, dO] = [tensors.q, tensors.k, tensors.v, tensors.dO].map(t => ctx.upload(t));
  const scoreMod = e.relativeBiasMod(normal([H, 7], 5));
  const { dCaptures } = sdpaVjp(ctx, q, k, v, { scoreMod }).backward(dO);
  expect(Object.keys(dCaptures ?? {})).toEqual(['relativeBias']);
  expect(dCaptures?.relativeBias?.shape).toEqual([H, 7]);
});

test('on a device that binds eight buffers, lists and masks are read from the workspace that is written', async () => {
  const device = await callersDevice();
  const ctx = await createContext({ device });
  const scoreMod = e.scoreMod(({ score, q, kv }) => add(score, mul(load('a', [q]), load('b', [kv]))), {
    a: normal([S], 15),
    b: normal([S], 16),
  });
  const options = {
    scoreMod,
    seqLensQ: [S, 33],
    seqLensKv: [51, S],
    blockMask: Tensor.from([1, 1, 0, 1], [1, H, 1, 1], { dtype: 'u8' }),
    mask: Tensor.from(new Array<number>(S).fill(1), [S], { dtype: 'bool' }),
    gradients: ['dq'],
  } as const;
  const call = { ...tensors, options };
  const exact = exactResults(call);
  expectAgreement(await gpuResults(ctx, call, exact), exact);
  ctx.destroy();
  device.destroy();
});

const relative = e.relativeBiasMod(normal([H, 41], 5));
/** A workgroup has memory for one table of this tensor only. */
const large = e.scoreMod(
  ({ score, q, kv }) => add(score, mul(load('large', [add(mul(q, 2000), kv)]), load('large', [kv]))),
  { large: normal([2 ** 20], 12) },
);

// Some lanes share a table, all lanes share one, or each has its own.
test.each([
  [workgroupTile({ tx: 2, ty: 3, headDimChunk: 4, rows: 8, cols: 2, prefetch: true }), [relative, large]],
  [subgroupTile({ stationary: 'queries', lanes: 8, group: 4 }), [relative]],
  [subgroupTile({ stationary: 'queries', lanes: 16, group: 8 }), [large]],
] as const)('sums on the tile $shape', async (tile, mods) => {
  const { device, capabilities } = await sharedContext();
  if (tile.unsupported('dq', normalise(tensors, {}).problem, capabilities) !== null) return;
  const ctx = await createContext({ device, tiles: () => ({ dq: tile }) });
  for (const scoreMod of mods) {
    const call = { ...tensors, options: { scoreMod, causal: 'bottom-right', gradients: [] } } as const;
    const exact = exactResults(call);
    expect(Object.keys(exact).filter(name => name.startsWith('dCaptures.'))).toHaveLength(1);
    expectAgreement(await gpuResults(ctx, call, exact), exact, { distance: S });
  }
  ctx.destroy();
});

describe('the tables in which gradients are summed', () => {
  const planned = (elements: number) => {
    const q = Tensor.zeros([1, 32, 1024, 8]);
    const lse = Tensor.zeros([1, 32, 1024]);
    const table = { dtype: 'f32', shape: [elements], strides: [1] } as const;
    const scoreMod = e.scoreMod(({ score, kv }) => add(score, load('table', [kv])), {
      table: Tensor.wrap(new Float32Array(1), { ...table, shape: [1], strides: [0] }),
    });
    const { problem } = normaliseBackward({ q, k: q, v: q, o: q, lse, dO: q }, { scoreMod });
    return { ...problem, forward: { ...problem.forward, captures: { table } } };
  };

  test('take at most 32 MiB, or as much as the captured tensors if they are larger', () => {
    const bytes = (elements: number): number => {
      const problem = planned(elements);
      const { spans } = backwardTensors(problem, allTools, defaultTile, guaranteedCapabilities);
      return 8 * spans['workspace.sums'];
    };
    expect(bytes(2)).toBe(256 * 16 * 8);
    expect(bytes(2 ** 13)).toBe(2 ** 25);
    expect(bytes(2 ** 20)).toBe(2 ** 25);
    expect(bytes(3 * 2 ** 22)).toBe(3 * 2 ** 24);
  });

  test('a captured tensor that cannot be bound is reported', async () => {
    const ctx = await sharedContext();
    const elements = ctx.capabilities.maxStorageBufferBindingSize / 4 + 1;
    const { reasons } = checkSupport(ctx, planned(elements));
    expect(reasons.join()).toMatch(/needs more of workspace\.sums at once/);
  });
});
