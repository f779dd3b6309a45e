import { normalise, Tensor } from '@tilewise/core';
import { openGpu } from '@tilewise/webgpu-host';
import { test } from 'vitest';
import { createContext, planSdpa } from './index.ts';
import { compile, compileAsync } from './device/pipelines.ts';

test('time', { timeout: 600000 }, async () => {
  const { adapter, description } = await openGpu();
  const ctx = await createContext({ adapter });
  console.log(description);
  const t = (d: number, dtype = 'f32') => Tensor.zeros([1, 2, 40, d], { dtype: dtype as 'f32' });
  for (const mode of ['sync', 'async', 'sync', 'async']) {
    const d = { n: 0 };
    for (const [name, D, dtype] of [['plain8', 8, 'f32'], ['odd', 7, 'f32'], ['f16', 8, 'f16']] as const) {
      const q = t(D, dtype);
      const f = normalise({ q, k: q, v: q }, {}).problem;
      const [kernel] = planSdpa(ctx, f).kernels;
      const spec = { ...kernel, wgsl: kernel.wgsl + `\n// ${Math.random()}\nconst unused${Math.floor(Math.random()*1e9)} = 1;\n` };
      const t0 = performance.now(), c0 = process.cpuUsage();
      if (mode === 'sync') { compile(ctx.device, spec); await ctx.device.queue.onSubmittedWorkDone(); }
      else await compileAsync(ctx.device, spec);
      const c = process.cpuUsage(c0);
      console.log(mode, name, ((performance.now() - t0) / 1000).toFixed(2), 'cpu', (c.user / 1e6).toFixed(2));
    }
  }
});
