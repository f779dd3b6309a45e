import { Tensor } from '@tilewise/core';
import {
  candidatesFor,
  MatmulBench,
  matmulDevice,
  normalInputs,
  type ReadyMatmul,
  timeInTurn,
} from '@tilewise/device-report/measure';
import { webgpuEngine } from '@tilewise/webgpu';
import type { Row } from '../../command/table.ts';
import { type BenchGpu, openWebGpu, toggleOption } from '../../gpu/open-webgpu.ts';
import { type Suite, UsageError, WrongResult } from '../suite.ts';

/** The engine's product beside the fastest that can be written for one size. */
export const matmul: Suite = {
  name: 'matmul',
  summary:
    "the engine's matmul, for any shape and strides, next to WGSL that is written for this size alone (target: 0.5)",
  options: {
    ...toggleOption,
    size: { value: 'N', meaning: 'multiply N × N matrices; N is a multiple of 128, default 1024' },
    dtype: { value: 'f32|f16', meaning: 'the dtype of both operands; default f32. The product is f32' },
  },
  async run(options, progress) {
    const { size: given = '1024', dtype = 'f32' } = options;
    const size = Number(given);
    if (!Number.isSafeInteger(size) || size < 128 || size % 128 !== 0) {
      throw new UsageError(`--size must be a multiple of 128, got '${given}'.`);
    }
    if (dtype !== 'f32' && dtype !== 'f16')
      throw new UsageError(`--dtype must be f32 or f16, got '${dtype}'.`);
    const bench = await openWebGpu(options);
    try {
      return await compare(bench, size, dtype, progress);
    } finally {
      await bench.close();
    }
  },
};

async function compare(
  bench: BenchGpu,
  size: number,
  dtype: 'f32' | 'f16',
  progress: (text: string) => void,
): Promise<Row[]> {
  const { device, ctx } = bench;
  const fixed = new MatmulBench(ctx, size);
  const engine = webgpuEngine(ctx);
  const host = normalInputs(['a', 'b'], [size, size]);
  const [a, b] = [host.a, host.b].map(tensor => engine.upload(tensor.cast(dtype)));
  const c = engine.upload(Tensor.zeros([size, size]));
  const prepared = engine.primitives.prepare({ kind: 'matmul' }, [a, b], [c]);
  // On a GPU, several products run at a time, because a single one ends before the queue is asked.
  const times = bench.kind === 'hardware' ? 50 : 1;
  const timed = async (record: () => void): Promise<number> => {
    const start = performance.now();
    record();
    await ctx.submitted();
    await device.queue.onSubmittedWorkDone();
    return (performance.now() - start) / times;
  };
  const runEngine = (): Promise<number> =>
    timed(() =>
      engine.batch(() => {
        for (let n = 0; n < times; n++) prepared.run([a, b], [c]);
      }),
    );
  const runFixed = ({ encode }: ReadyMatmul): Promise<number> =>
    timed(() => {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (let n = 0; n < times; n++) encode(pass);
      pass.end();
      device.queue.submit([encoder.finish()]);
    });

  progress('engine');
  await runEngine();
  if (!(await fixed.isRight(c, dtype, 'f32'))) throw new WrongResult("the engine's matmul is wrong");
  const candidates: ReadyMatmul[] = [];
  for (const candidate of candidatesFor(matmulDevice(ctx), size).filter(({ storage }) => storage === dtype)) {
    progress(candidate.name);
    const ready = await fixed.ready(candidate);
    if (ready && (await ready.isRight())) candidates.push(ready);
  }
  progress('all in turn');
  const [own, ...others] = await timeInTurn([runEngine, ...candidates.map(one => () => runFixed(one))]);
  const best = Math.min(...others.map(({ min }) => min));
  const row = (kernel: string, ms: number): Row => ({
    ...{ 'M×N×K': `${size}×${size}×${size}`, dtype, kernel, ms, 'GFLOP/s': fixed.flops / ms / 1e6 },
    ...{ 'of the best': candidates.length > 0 ? best / ms : '', timer: 'wall clock', ...bench.label },
  });
  prepared.release();
  fixed.destroy();
  return [
    row('engine', own.min),
    ...candidates.map(({ candidate }, n) => row(`fixed, ${candidate.name}`, others[n].min)),
  ];
}
