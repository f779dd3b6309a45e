import { Tensor } from '@tilewise/core';
import { mul } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import { sharedContext } from '../../testing/shared-context.ts';
import { webgpuEngine } from '../index.ts';

const double = { kind: 'map', value: mul(input(0), 2) } as const;
const part = { shape: [64], strides: [1] };

test('a tensor may be written in the buffer of one that is read, 256 bytes apart', async () => {
  const ctx = await sharedContext();
  const { primitives } = webgpuEngine(ctx);
  const both = ctx.upload(
    Tensor.from(
      Array.from({ length: 128 }, (_, n) => n),
      [128],
    ),
  );
  const [from, to] = [0, 64].map(offset => primitives.view(both, { ...part, offset }));
  const prepared = primitives.prepare(double, [from], [to]);
  prepared.run([from], [to]);
  const result = (await ctx.download(both)).toFloat32();
  expect([...result.slice(0, 64)]).toEqual(Array.from({ length: 64 }, (_, n) => n));
  expect([...result.slice(64)]).toEqual(Array.from({ length: 64 }, (_, n) => 2 * n));
  expect(() => prepared.run([from], [from])).toThrow('must not share bytes');
  prepared.release();
});
