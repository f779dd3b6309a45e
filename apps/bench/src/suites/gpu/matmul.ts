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
import { type BenchGpu, openWebGpu, toggleOption } from '../../gpu/open-webgpu.ts';
import { type Suite, UsageError, WrongResult } from '../../suite.ts';
import type { Row } from '../../table.ts';

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

/** How the operands are stored: row by row, or column by column. */
const layouts = [
  { name: 'engine', a: 'rows', b: 'rows' },
  { name: 'engine, A by columns', a: 'columns', b: 'rows' },
  { name: 'engine, B by columns', a: 'rows', b: 'columns' },
  { name: 'engine, both by columns', a: 'columns', b: 'columns' },
] as const;

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
  const [A, B] = [host.a, host.b].map(tensor => {
    const rows = tensor.cast(dtype);
    // The same values, stored column by column.
    const columns = rows.permute(1, 0).contiguous().permute(1, 0);
    return { rows: engine.upload(rows), columns: engine.upload(columns) };
  });
  const c = engine.upload(Tensor.zeros([size, size]));
  // On a GPU, several products run at a time, because a single one ends before the queue is asked.
  const times = bench.kind === 'hardware' ? 50 : 1;
  const timed = async (record: () => void): Promise<number> => {
    const start = performance.now();
    record();
    await ctx.submitted();
    await device.queue.onSubmittedWorkDone();
    return (performance.now() - start) / times;
  };
  const products = layouts.map(({ name, a, b }) => {
    const operands = [A[a], B[b]];
    const prepared = engine.primitives.prepare({ kind: 'matmul' }, operands, [c]);
    const run = (): Promise<number> =>
      timed(() =>
        engine.batch(() => {
          for (let n = 0; n < times; n++) prepared.run(operands, [c]);
        }),
      );
    return { name, prepared, run };
  });
  const runFixed = ({ encode }: ReadyMatmul): Promise<number> =>
    timed(() => {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (let n = 0; n < times; n++) encode(pass);
      pass.end();
      device.queue.submit([encoder.finish()]);
    });

  /** Clears C, so that the result of one product does not pass for that of another. */
  const clear = (): void => {
    const encoder = device.createCommandEncoder();
    encoder.clearBuffer(c.buffer, c.byteOffset, 4 * size * size);
    device.queue.submit([encoder.finish()]);
  };
  for (const { name, run } of products) {
    progress(name);
    clear();
    await run();
    if (!(await fixed.isRight(c, dtype, 'f32'))) throw new WrongResult(`the matmul of the ${name} is wrong`);
  }
  const candidates: ReadyMatmul[] = [];
  for (const candidate of candidatesFor(matmulDevice(ctx), size).filter(({ storage }) => storage === dtype)) {
    progress(candidate.name);
    const ready = await fixed.ready(candidate);
    if (ready && (await ready.isRight())) candidates.push(ready);
  }
  progress('all in turn');
  // On a CPU that emulates a GPU, layouts take long, and about the same time.
  const ours = bench.kind === 'hardware' ? products : products.slice(0, 1);
  const took = await timeInTurn([
    ...ours.map(({ run }) => run),
    ...candidates.map(one => () => runFixed(one)),
  ]);
  const [own, others] = [took.slice(0, ours.length), took.slice(ours.length)];
  const best = Math.min(...others.map(({ min }) => min));
  const row = (kernel: string, ms: number): Row => ({
    ...{ 'M×N×K': `${size}×${size}×${size}`, dtype, kernel, ms, 'GFLOP/s': fixed.flops / ms / 1e6 },
    ...{ 'of the best': candidates.length > 0 ? best / ms : '', timer: 'wall clock', ...bench.label },
  });
  for (const { prepared } of products) prepared.release();
  fixed.destroy();
  return [
    ...ours.map(({ name }, n) => row(name, own[n].min)),
    ...candidates.map(({ candidate }, n) => row(`fixed, ${candidate.name}`, others[n].min)),
  ];
}
