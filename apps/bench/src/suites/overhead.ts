import { normalise, Tensor } from '@tilewise/core';
import { summary } from '@tilewise/device-report/measure';
import { createContext, type GpuContext, planSdpa, sdpa } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { usage } from '../gpu/usage.ts';
import type { Suite } from './suite.ts';

const rounds = 7;
const callsOfRound = 1000;

/** A small problem, of which nothing but the fixed cost of a call is left. */
const host = Tensor.zeros([1, 4, 32, 16]);
const options = { causal: true };

/** The host's work for an eager call beyond the WebGPU calls that it makes. */
export const overhead: Suite = {
  name: 'overhead',
  summary: 'fixed cost of an eager call that comes again, next to its WebGPU calls replayed bare',
  options: {},
  async run(_, progress) {
    const { adapter, description } = await openGpu({ backend: 'null' });
    const ctx = await createContext({ adapter });
    try {
      const q = ctx.upload(host);
      const call = (): void => {
        const { o, lse } = sdpa(ctx, q, q, q, options);
        for (const tensor of [o, lse]) tensor.destroy();
      };
      call();
      await ctx.submitted();
      const bare = bareCalls(ctx);
      progress('in turn');
      const times = { call: [] as number[], bare: [] as number[] };
      // The first three rounds are for the compiler of JavaScript.
      for (let round = -3; round < rounds; round++) {
        for (const [name, run] of [['call', call] as const, ['bare', bare] as const]) {
          const before = process.cpuUsage();
          for (let n = 0; n < callsOfRound; n++) run();
          const took = process.cpuUsage(before).user / callsOfRound;
          await ctx.device.queue.onSubmittedWorkDone();
          if (round >= 0) times[name].push(took);
        }
      }
      const [eager, replayed] = [summary(times.call).median, summary(times.bare).median];
      const row = { engine: 'webgpu', 'eager µs': eager, 'bare µs': replayed, 'beyond µs': eager - replayed };
      return [{ ...row, target: 20, adapter: description }];
    } finally {
      ctx.destroy();
    }
  },
};

/** The WebGPU calls of one eager call, on a bind group that is made once, as the call's is. */
function bareCalls(ctx: GpuContext): () => void {
  const { device } = ctx;
  const { kernels } = planSdpa(ctx, normalise({ q: host, k: host, v: host }, options).problem);
  const buffer = (flag: number): GPUBuffer => device.createBuffer({ size: 65536, usage: flag });
  const steps = kernels.map(({ wgsl, bindings, groups }) => {
    const compute = { module: device.createShaderModule({ code: wgsl }) };
    const pipeline = device.createComputePipeline({ layout: 'auto', compute });
    const buffers = [buffer(usage.UNIFORM), ...bindings.map(() => buffer(usage.STORAGE))];
    const entries = buffers.map((resource, binding) => ({ binding, resource: { buffer: resource } }));
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    return { pipeline, group, groups };
  });
  return () => {
    device.pushErrorScope('out-of-memory');
    device.pushErrorScope('validation');
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const { pipeline, group, groups } of steps) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(groups);
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
    device.popErrorScope();
    device.popErrorScope();
  };
}
