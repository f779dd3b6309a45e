import { type GpuContext, type GpuTensor, sdpa, sdpaBackward } from '@tilewise/webgpu';
import { copiesOf } from '../../workloads/attention/attention-case.ts';
import type { Implementation } from '../implementation.ts';

/** Our own eager functions, called as a peer is called. */
export function tilewise(ctx: GpuContext): Implementation {
  return {
    name: 'tilewise',
    note: '',
    async open(of) {
      const { causal } = of;
      const inputs = copiesOf(of, host => ({
        ...{ q: ctx.upload(host.q), k: ctx.upload(host.k), v: ctx.upload(host.v), dO: ctx.upload(host.dO) },
      }));
      const release = (tensors: readonly GpuTensor[]): void => {
        for (const tensor of tensors) ctx.release(tensor);
      };
      const attend = (round: number) => {
        const { q, k, v } = inputs[round % inputs.length];
        return sdpa(ctx, q, k, v, { causal });
      };
      const both = (round: number) => {
        const { q, k, v, dO } = inputs[round % inputs.length];
        const { o, lse } = attend(round);
        const gradients = sdpaBackward(ctx, { q, k, v, o, lse, dO }, { causal });
        release([o, lse]);
        return gradients;
      };
      return {
        async forward(round) {
          const { o, lse } = attend(round);
          release([o, lse]);
        },
        async o() {
          const { o, lse } = attend(0);
          const host = await ctx.download(o);
          release([o, lse]);
          return host.cast('f32');
        },
        async training(round) {
          const { dq, dk, dv } = both(round);
          release([dq, dk, dv]);
        },
        async gradients() {
          const { dq, dk, dv } = both(0);
          const [hostDq, hostDk, hostDv] = await Promise.all([dq, dk, dv].map(t => ctx.download(t)));
          release([dq, dk, dv]);
          return { dq: hostDq.cast('f32'), dk: hostDk.cast('f32'), dv: hostDv.cast('f32') };
        },
        close: () => release(inputs.flatMap(Object.values)),
      };
    },
  };
}
