import type { BenchConfig, BenchEvent, BenchMachine, BenchRow } from './bench.ts';
import { benchShapes } from './bench.ts';

addEventListener('message', async ({ data }: MessageEvent<BenchConfig>) => {
  try {
    await bench(data);
    tell({ kind: 'done' });
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
});

const tell = (event: BenchEvent): void => postMessage(event);

type Rows = (heads: number, S: number) => AsyncIterable<BenchRow>;

async function bench(config: BenchConfig): Promise<void> {
  const gpu = config.engine === 'cpu' ? undefined : await openGpu(config);
  if (typeof gpu === 'object') return measure(config, gpu.machine, gpu.rows, 4);
  const { benchOnCpu, cpuMachine } = await import('./bench-cpu.ts');
  await measure(config, cpuMachine(gpu), (heads, S) => benchOnCpu(config, heads, S), 2);
}

async function measure(
  config: BenchConfig,
  machine: BenchMachine,
  rows: Rows,
  rowsEach: number,
): Promise<void> {
  const { heads, lengths } = benchShapes(config.size, machine);
  tell({ kind: 'machine', machine, heads, lengths });
  let done = 0;
  for (const S of lengths) {
    for await (const row of rows(heads, S)) {
      tell({ kind: 'row', row, done: ++done, total: rowsEach * lengths.length });
    }
  }
}

/** A device to measure, or why there is none. */
async function openGpu(
  config: BenchConfig,
): Promise<{ readonly machine: BenchMachine; readonly rows: Rows } | string> {
  try {
    const [{ createContext }, { benchOnGpu, gpuMachine }] = await Promise.all([
      import('@tilewise/webgpu'),
      import('./bench-gpu.ts'),
    ]);
    const ctx = await createContext();
    const machine = gpuMachine(ctx, ctx.device.adapterInfo);
    return { machine, rows: (heads, S) => benchOnGpu(ctx, config, heads, S) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
