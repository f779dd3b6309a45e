import { normalise, normaliseBackward, Tensor } from '@tilewise/core';
import { createContext, planSdpa, planSdpaBackward } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { expect, it } from 'vitest';
import { backward as wordsDe } from '../../text/de/learn/backward.ts';
import { graph } from '../../text/en/evaluate/graph.ts';
import { backward as wordsEn } from '../../text/en/learn/backward.ts';
import { train } from '../../text/en/learn/train.ts';

it('are one kernel forward and three backward, as the chapters say', async () => {
  const gpu = await openGpu();
  const ctx = await createContext({ adapter: gpu.adapter });
  const [q, lse] = [Tensor.zeros([1, 2, 128, 64]), Tensor.zeros([1, 2, 128])];
  const forward = planSdpa(ctx, normalise({ q, k: q, v: q }, {}).problem);
  const backward = planSdpaBackward(ctx, normaliseBackward({ q, k: q, v: q, o: q, lse, dO: q }, {}).problem);
  expect(forward.kernels).toHaveLength(1);
  expect(backward.kernels).toHaveLength(3);
  for (const words of [wordsEn, wordsDe]) expect(words.kernelRows).toHaveLength(backward.kernels.length);
  expect(graph.intro.join()).toContain('*one* kernel forward and three backward');
  expect(train.intro.join()).toContain('one kernel forward and three backward');
  ctx.destroy();
});
