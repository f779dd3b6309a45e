import { normalise, Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { summary } from '@tilewise/device-report/measure';
import { createContext, type GpuContext, planSdpa, sdpa } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { usage } from '../../gpu/usage.ts';
import type { Suite } from '../suite.ts';

const rounds = 7;
/** Untimed rounds. On a slow machine, the JavaScript engine still compiles after ten thousand calls. */
const warmUpRounds = 20;
const callsOfRound = 1000;

/** A problem so small that only the fixed cost of a call is left. */
const host = Tensor.zeros([1, 4, 32, 16]);
const options = { causal: true };

/** One head of 8 rows on the CPU, where kernels take part of the time, too. */
const tiny = Tensor.zeros([1, 1, 8, 8]);

/** The host's work for an eager call beyond the WebGPU calls that it makes; on the CPU, the whole call. */
export const overhead: Suite = {
  name: 'overhead',
  summary: 'fixed cost of a repeated eager call, next to its bare WebGPU calls',
  options: {},
  async run(_, progress) {
    progress('cpu');
    const onCpu = await timeOnCpu();
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
      progress('webgpu');
      const [eager, replayed] = await timeInTurn([call, bare], () => ctx.device.queue.onSubmittedWorkDone());
      const row = { engine: 'webgpu', 'eager µs': eager, 'bare µs': replayed, 'beyond µs': eager - replayed };
      return [
        { ...row, target: 20, adapter: description },
        { engine: 'cpu', 'eager µs': onCpu, 'bare µs': '', 'beyond µs': onCpu, target: 10, adapter: '' },
      ];
    } finally {
      ctx.destroy();
    }
  },
};

/** The fixed cost on the CPU engine. It is measured first, because WebGPU leaves objects to collect. */
async function timeOnCpu(): Promise<number> {
  const cpu = cpuEngine({ threads: 1 });
  const resident = cpu.upload(tiny);
  const [time] = await timeInTurn([() => cpu.sdpa(resident, resident, resident, options)]);
  return time;
}

/** The median processor time of each call in µs. After each round, `settle` waits for the GPU. */
async function timeInTurn(
  calls: readonly (() => unknown)[],
  settle: () => Promise<unknown> = () => Promise.resolve(),
): Promise<number[]> {
  const times = calls.map(() => [] as number[]);
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [n, run] of calls.entries()) {
      const before = process.cpuUsage();
      for (let call = 0; call < callsOfRound; call++) await run();
      const took = process.cpuUsage(before).user / callsOfRound;
      await settle();
      if (round >= 0) times[n].push(took);
    }
  }
  return times.map(taken => summary(taken).median);
}

/** The WebGPU calls of one eager call, on a cached bind group, as the eager call has one. */
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
