import { type SdpaOptions, Tensor } from '@tilewise/core';
import { add, load, scoreMod } from '@tilewise/core/expr';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AttentionCall,
  exactResults,
  gpuResults,
  normal,
  type Results,
} from '../../../testing/attention/attention-call.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { createContext, type GpuContext, type Stationary, type TileSelector } from '../../index.ts';
import { subgroupTile } from '../../subpaths/tiles.ts';

const clean = (S: number, Skv = S): AttentionCall => ({
  q: normal([1, 2, S, 8], 1),
  k: normal([1, 1, Skv, 8], 2),
  v: normal([1, 1, Skv, 8], 3),
  dO: normal([1, 2, S, 8], 4),
});

/** A copy with one value at channel 3 of row `s`. */
function withValue(t: Tensor, s: number, value: number): Tensor {
  const copy = t.contiguous();
  for (let h = 0; h < t.shape[1]; h++) copy.data[(h * t.shape[2] + s) * t.shape[3] + 3] = value;
  return copy;
}

/** The elements of each result that are NaN. */
const nanOf = (results: Results, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.map(name => [
      name,
      results[name]
        .toFloat64()
        .map(x => Number(Number.isNaN(x)))
        .join(''),
    ]),
  );

const isSubgroup = (await sharedContext()).capabilities.subgroupMinSize >= 4;
const inSubgroups: TileSelector = () => {
  const tile = (stationary: Stationary) => subgroupTile({ stationary, lanes: 8, group: 4 });
  return { forward: tile('queries'), dq: tile('queries'), dkdv: tile('keys') };
};

async function expectSameNaN(call: AttentionCall, given?: GpuContext): Promise<void> {
  const ctx = given ?? (await sharedContext());
  const exact = exactResults(call);
  const names = ['o', 'lse', 'dq', 'dk', 'dv'];
  expect(nanOf(exact, names).lse).toContain('1');
  expect(nanOf(await gpuResults(ctx, call), names)).toEqual(nanOf(exact, names));
}

describe.each<[string, TileSelector | undefined]>([
  ['the table', undefined],
  ...(isSubgroup ? [['subgroups', inSubgroups] as [string, TileSelector]] : []),
])('on tiles of %s, rows that see a NaN or infinity are NaN as in the reference', (_, tiles) => {
  const S = 40;
  let ctx: GpuContext | undefined;
  beforeAll(async () => {
    if (tiles) ctx = await createContext({ device: (await sharedContext()).device, tiles });
  });
  afterAll(() => ctx?.destroy());

  test.each<[string, (call: AttentionCall) => AttentionCall]>([
    ['a NaN in k', call => ({ ...call, k: withValue(call.k, 20, NaN) })],
    [
      'a NaN in k under a causal mask',
      call => ({ ...call, k: withValue(call.k, 20, NaN), options: { causal: true } }),
    ],
    ['a NaN in q', call => ({ ...call, q: withValue(call.q, 20, NaN) })],
    [
      'a NaN in k with a softcap',
      call => ({ ...call, k: withValue(call.k, 20, NaN), options: { softcap: 3 } }),
    ],
    [
      'a NaN in the bias',
      call => ({ ...call, options: { bias: withValue(normal([1, 1, 40, 40], 5), 7, NaN) } }),
    ],
    [
      'an infinite bias',
      call => ({ ...call, options: { bias: withValue(normal([1, 1, 40, 40], 5), 7, Infinity) } }),
    ],
  ])('%s', async (_, dirty) => {
    await expectSameNaN(dirty(clean(S)), ctx);
  });
});

test('a NaN among keys that are split over workgroups', async () => {
  const call = clean(1, 700);
  await expectSameNaN({ ...call, k: withValue(call.k, 650, NaN) });
});

test('a score mod that gives an infinity', async () => {
  const raised = Tensor.from([0, 0, 0, Infinity, 0, 0, 0, 0], [8]);
  const options: SdpaOptions<Tensor> = {
    scoreMod: scoreMod(({ score, kv }) => add(score, load('raised', [kv])), { raised }),
    causal: true,
  };
  await expectSameNaN({ ...clean(8), options });
});

test('one NaN in a key makes all gradients NaN', async () => {
  const ones = (value = 1): Tensor => Tensor.from(new Float32Array(16).fill(value), [1, 1, 8, 2]);
  const k = ones();
  k.data[10] = NaN;
  const results = await gpuResults(await sharedContext(), { q: ones(), k, v: ones(), dO: ones() });
  for (const name of ['o', 'lse', 'dq', 'dk', 'dv'])
    expect([...results[name].toFloat32()].every(Number.isNaN), name).toBe(true);
});
