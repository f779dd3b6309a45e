import { Tensor } from '@tilewise/core';
import {
  candidatesFor,
  MatmulBench,
  matmulDevice,
  normalInputs,
  timeInTurn,
} from '@tilewise/device-report/measure';
import { webgpuEngine } from '@tilewise/webgpu';
import { type BenchGpu, openWebGpu, toggleOption } from '../../gpu/open-webgpu.ts';
import { type Suite, UsageError, WrongResult } from '../../suite/suite.ts';
import type { Row } from '../../suite/table.ts';

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
      return await compare(bench, { size, dtype }, progress);
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

/** A product that is measured. */
interface Product {
  readonly name: string;
  /** Runs the product, several times on a GPU, and returns the milliseconds of one run. */
  run(): Promise<number>;
  release?(): void;
}

/** The products that are compared: of size × size matrices, whose operands have the dtype. */
interface Setting {
  readonly size: number;
  readonly dtype: 'f32' | 'f16';
}

async function compare(
  bench: BenchGpu,
  setting: Setting,
  progress: (text: string) => void,
): Promise<readonly Row[]> {
  const { size, dtype } = setting;
  const fixed = new MatmulBench(bench.ctx, size);
  const all = await engineProducts(bench, fixed, setting, progress);
  const written = await fixedProducts(bench, fixed, setting, progress);
  progress('all in turn');
  // On a CPU that emulates a GPU, layouts take long, and about the same time.
  const ours = bench.kind === 'hardware' ? all : all.slice(0, 1);
  const products = [...ours, ...written];
  const took = (await timeInTurn(products.map(({ run }) => run))).map(({ min }) => min);
  const best = Math.min(...took.slice(ours.length));
  for (const { release } of all) release?.();
  fixed.destroy();
  return products.map(({ name: kernel }, n) => ({
    ...{ 'M×N×K': `${size}×${size}×${size}`, dtype, kernel, ms: took[n] },
    'GFLOP/s': fixed.flops / took[n] / 1e6,
    ...{ 'of the best': written.length > 0 ? best / took[n] : '', timer: 'wall clock', ...bench.label },
  }));
}

/**
 * Times commands that run `times` products: several on a GPU, because a single one ends before the queue is
 * asked.
 */
function timer({ ctx, device, kind }: BenchGpu): {
  readonly times: number;
  timed(record: () => void): Promise<number>;
} {
  const times = kind === 'hardware' ? 50 : 1;
  return {
    times,
    async timed(record) {
      const start = performance.now();
      record();
      await ctx.submitted();
      await device.queue.onSubmittedWorkDone();
      return (performance.now() - start) / times;
    },
  };
}

/** The engine's products of the numbers of `fixed` in all layouts, after a check of each. */
async function engineProducts(
  bench: BenchGpu,
  fixed: MatmulBench,
  { size, dtype }: Setting,
  progress: (text: string) => void,
): Promise<readonly Product[]> {
  const { ctx, device } = bench;
  const { times, timed } = timer(bench);
  const engine = webgpuEngine(ctx);
  const host = normalInputs(['a', 'b'], [size, size]);
  const [A, B] = [host.a, host.b].map(tensor => {
    const rows = tensor.cast(dtype);
    // The same values, stored column by column.
    const columns = rows.permute(1, 0).contiguous().permute(1, 0);
    return { rows: engine.upload(rows), columns: engine.upload(columns) };
  });
  const c = engine.upload(Tensor.zeros([size, size]));
  const products = layouts.map(({ name, a, b }) => {
    const operands = [A[a], B[b]];
    const prepared = engine.primitives.prepare({ kind: 'matmul' }, operands, [c]);
    const record = (): void => {
      for (let n = 0; n < times; n++) prepared.run(operands, [c]);
    };
    return {
      name,
      run: () => timed(() => engine.batch(record)),
      release: () => prepared.release(),
    };
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
  return products;
}

/** The products that are written for this size alone, without those that the device computes wrongly. */
async function fixedProducts(
  bench: BenchGpu,
  fixed: MatmulBench,
  { size, dtype }: Setting,
  progress: (text: string) => void,
): Promise<readonly Product[]> {
  const { ctx, device } = bench;
  const { times, timed } = timer(bench);
  const products: Product[] = [];
  for (const candidate of candidatesFor(matmulDevice(ctx), size).filter(({ storage }) => storage === dtype)) {
    progress(candidate.name);
    const ready = await fixed.ready(candidate);
    if (!ready || !(await ready.isRight())) continue;
    const record = (): void => {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (let n = 0; n < times; n++) ready.encode(pass);
      pass.end();
      device.queue.submit([encoder.finish()]);
    };
    products.push({ name: `fixed, ${candidate.name}`, run: () => timed(record) });
  }
  return products;
}
