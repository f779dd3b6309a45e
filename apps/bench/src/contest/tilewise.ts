import { type GpuContext, type GpuTensor, sdpa, sdpaBackward } from '@tilewise/webgpu';
import type { Contestant } from './contestant.ts';

/** Our own eager functions, as a peer is called. */
export function tilewise(ctx: GpuContext): Contestant {
  return {
    name: 'tilewise',
    note: '',
    async open({ q: hostQ, k: hostK, v: hostV, dO: hostDO, causal }) {
      const [q, k, v, dO] = [hostQ, hostK, hostV, hostDO].map(t => ctx.upload(t));
      const release = (tensors: readonly GpuTensor[]): void => {
        for (const tensor of tensors) ctx.release(tensor);
      };
      const both = () => {
        const { o, lse } = sdpa(ctx, q, k, v, { causal });
        const gradients = sdpaBackward(ctx, { q, k, v, o, lse, dO }, { causal });
        release([o, lse]);
        return gradients;
      };
      return {
        async forward() {
          const { o, lse } = sdpa(ctx, q, k, v, { causal });
          release([o, lse]);
        },
        async o() {
          const { o, lse } = sdpa(ctx, q, k, v, { causal });
          const host = await ctx.download(o);
          release([o, lse]);
          return host.cast('f32');
        },
        async training() {
          const { dq, dk, dv } = both();
          release([dq, dk, dv]);
        },
        async gradients() {
          const { dq, dk, dv } = both();
          const [hostDq, hostDk, hostDv] = await Promise.all([dq, dk, dv].map(t => ctx.download(t)));
          release([dq, dk, dv]);
          return { dq: hostDq.cast('f32'), dk: hostDk.cast('f32'), dv: hostDv.cast('f32') };
        },
        close: () => release([q, k, v, dO]),
      };
    },
  };
}
