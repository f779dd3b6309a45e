import { sdpa, sdpaBackward } from '@tilewise/webgpu';
import { normalInputs } from '../normal-inputs.ts';
import { openWebGpu } from '../open-webgpu.ts';
import { checkBackward, checkForward, sampleRows } from '../sampled-reference.ts';
import { type Suite, WrongResult } from '../suite.ts';

const shape = [1, 2, 4096, 64] as const;
const [B, H, S] = shape;

/** Bytes that a context may hold at most, tensors of the call included. */
const limit = 64e6;

const megabytes = (bytes: number): number => bytes / 1e6;

/** How much GPU memory attention takes where the scores alone would be 134 MB. */
export const memory: Suite = {
  name: 'memory',
  summary: `peak of GPU buffers at (B, H, S, D) = (${shape.join(', ')}), f32, of ${megabytes(limit)} MB allowed; the scores would be ${megabytes(B * H * S * S * 4).toFixed(0)} MB`,
  options: { full: { meaning: 'every query sees every key, instead of causal' } },
  async run({ full }, progress) {
    const causal = full !== true;
    const { ctx, adapter } = await openWebGpu();
    try {
      const { q, k, v, dO } = normalInputs(['q', 'k', 'v', 'dO'], shape);
      const call = { q, k, v, causal };
      const places = sampleRows(call, 14);
      const [gq, gk, gv] = [q, k, v].map(tensor => ctx.upload(tensor));

      progress(`forward on ${adapter}`);
      const forward = sdpa(ctx, gq, gk, gv, { causal });
      const [o, lse] = await Promise.all([ctx.download(forward.o), ctx.download(forward.lse)]);
      progress(`checking ${places.length} rows`);
      checkForward(call, { o, lse }, places);
      const forwardPeak = ctx.memory.peak;

      progress(`backward on ${adapter}`);
      ctx.trim();
      ctx.resetPeakMemory();
      const inputs = { q: gq, k: gk, v: gv, ...forward, dO: ctx.upload(dO) };
      const gradients = sdpaBackward(ctx, inputs, { causal });
      await ctx.device.queue.onSubmittedWorkDone();
      const backwardPeak = ctx.memory.peak;
      const [dq, dk, dv] = await Promise.all(
        [gradients.dq, gradients.dk, gradients.dv].map(tensor => ctx.download(tensor)),
      );
      progress(`checking ${places.length} rows`);
      checkBackward(call, { o, lse, dO, dq, dk, dv }, places);

      const mask = causal ? 'causal' : 'full';
      for (const [pass, peak] of Object.entries({ forward: forwardPeak, backward: backwardPeak })) {
        if (peak > limit)
          throw new WrongResult(`${pass} held ${megabytes(peak)} MB, more than ${megabytes(limit)} MB`);
      }
      return [
        { pass: 'forward', mask, 'peak MB': megabytes(forwardPeak), 'limit MB': megabytes(limit), adapter },
        { pass: 'backward', mask, 'peak MB': megabytes(backwardPeak), 'limit MB': megabytes(limit), adapter },
      ];
    } finally {
      ctx.destroy();
    }
  },
};
