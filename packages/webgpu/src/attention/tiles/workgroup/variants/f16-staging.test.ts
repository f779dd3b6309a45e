import { normaliseBackward, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { normal } from '../../../../../testing/attention/attention-call.ts';
import { sharedContext } from '../../../../../testing/device/shared-context.ts';
import { createContext, guaranteedCapabilities, sdpa } from '../../../../index.ts';
import { backwardTiles, defaultSizes, defaultTile } from '../../tile-table.ts';
import { workgroupTile } from '../workgroup-kind.ts';

const call = {
  q: normal([1, 2, 70, 24], 1, 'f16'),
  k: normal([1, 1, 45, 24], 2, 'f16'),
  v: normal([1, 1, 45, 40], 3, 'f16'),
  dO: normal([1, 2, 70, 40], 4, 'f16'),
  options: { causal: true },
} as const;
const staged = workgroupTile({ ...defaultSizes, stagingDType: 'f16' });
const tiles = () => ({ forward: staged, dq: staged, dkdv: staged });

const own = await sharedContext();

test.skipIf(!own.capabilities.features.includes('shader-f16'))(
  'f16 operands that are staged in f16 in workgroup memory give the same bits',
  async () => {
    const ctx = await createContext({ device: own.device, tiles });
    const [o, held] = await Promise.all(
      [own, ctx].map(async each => {
        const [q, k, v] = [call.q, call.k, call.v].map(tensor => each.upload(tensor));
        return (await each.download(sdpa(each, q, k, v, call.options).o)).data;
      }),
    );
    expect(held).toEqual(o);
    ctx.destroy();
  },
);

test('an f32 dO is not staged in f16: kernels that read it use the tiles of the table', () => {
  const capabilities = { ...guaranteedCapabilities, features: ['shader-f16'] };
  const { q, k, v, dO, options } = call;
  const lse = Tensor.zeros([1, 2, 70]);
  const dqOf = (gradient: Tensor) =>
    backwardTiles(normaliseBackward({ q, k, v, o: dO, lse, dO: gradient }, options).problem, {
      ...{ capabilities, tiles },
    }).dq;
  expect(dqOf(dO)).toBe(staged);
  expect(dqOf(Tensor.zeros([1, 2, 70, 40]))).toBe(defaultTile);
});
