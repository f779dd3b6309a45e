import { createContext, type GpuContext, type GpuTensor, sdpa, sdpaBackward } from '../../src/index.ts';
import { sharedContext } from '../device/shared-context.ts';
import { exactResults, normal } from './attention-call.ts';
import { expectAgreement } from './expect-agreement.ts';

/** (B, H, S, D) of q, k, v and dO. */
export const shape: readonly number[] = [1, 2, 40, 8];
export const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal(shape, seed));
export const { o, lse, dq } = exactResults({ q, k, v, dO });

/** A valid call, for tests of errors in other calls. */
export interface GoodCall {
  readonly ctx: GpuContext;
  readonly gpu: Readonly<Record<'q' | 'k' | 'v' | 'o' | 'lse' | 'dO', GpuTensor>>;
  /**
   * Expects the call to give its usual results: whatever went wrong, the context and its tensors are intact.
   */
  expectIntact(): Promise<void>;
}

/** A valid call on a context of its own, on the device that all tests share. */
export async function goodCall(): Promise<GoodCall> {
  const ctx = await createContext({ device: (await sharedContext()).device });
  const up = ctx.upload.bind(ctx);
  const gpu = { q: up(q), k: up(k), v: up(v), o: up(o), lse: up(lse), dO: up(dO) };
  return {
    ctx,
    gpu,
    async expectIntact() {
      const forward = sdpa(ctx, gpu.q, gpu.k, gpu.v);
      const backward = sdpaBackward(ctx, gpu, { gradients: ['dq'] });
      const got = {
        o: await ctx.download(forward.o),
        lse: await ctx.download(forward.lse),
        dq: await ctx.download(backward.dq),
      };
      expectAgreement(got, { o, lse, dq });
      for (const tensor of [forward.o, forward.lse, backward.dq]) tensor.destroy();
    },
  };
}
