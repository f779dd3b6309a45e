import { normalInputs } from '@tilewise/device-report/measure';
import { createContext, type GpuContext, type GpuTensor, sdpa, sdpaBackward } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import type { Suite } from '../../suite/suite.ts';
import type { Row } from '../../suite/table.ts';
import { startStopwatch } from '../../timing/stopwatch.ts';
import { parseShapes, type Shape4 } from '../../workloads/attention/attention-case.ts';
import { checkBackward, checkForward, sampleRows } from '../../workloads/attention/sampled-reference.ts';

/** Few scores, which small tiles compute, and enough scores for the tiles that take longer to compile. */
const defaultShapes = '1x1x64x32,1x4x256x64';

/** The first calls on a device that has compiled nothing. */
export const start: Suite = {
  name: 'start',
  summary: 'the first forward and backward: until the call returns, and until its result is on the host',
  options: { shapes: { value: 'BxHxSxD,…', meaning: `shapes to compute; default ${defaultShapes}` } },
  async *run({ shapes = defaultShapes }, progress) {
    // Mesa caches compiled kernels from one process to the next.
    process.env.MESA_SHADER_CACHE_DISABLE ??= 'true';
    for (const shape of parseShapes(String(shapes))) {
      progress(shape.join('×'));
      const { adapter, description } = await openGpu();
      // Each call has its own device, because compiled kernels belong to a device.
      const ctx = await createContext({ adapter });
      try {
        yield* measure(ctx, shape, description);
      } finally {
        ctx.destroy();
      }
    }
  },
};

async function* measure(ctx: GpuContext, shape: Shape4, adapter: string): AsyncIterable<Row> {
  const host = normalInputs(['q', 'k', 'v', 'dO'], shape);
  const [q, k, v, dO] = [host.q, host.k, host.v, host.dO].map(tensor => ctx.upload(tensor));
  const call = { ...host, causal: false };
  const places = sampleRows(call, 14);
  const timed = async <R extends object>(
    run: () => R,
    result: (results: R) => GpuTensor,
  ): Promise<{ readonly results: R; readonly row: Row }> => {
    const watch = startStopwatch();
    const results = run();
    const returned = watch();
    await ctx.download(result(results));
    const first = watch();
    const again = startStopwatch();
    await ctx.download(result(run()));
    return {
      results,
      row: {
        'returns ms': returned.wall,
        'result ms': first.wall,
        'processor ms': first.cpu,
        'again ms': again().wall,
        adapter,
      },
    };
  };
  const columns = { 'B×H×S×D': shape.join('×') };
  const forward = await timed(
    () => sdpa(ctx, q, k, v),
    ({ o }) => o,
  );
  const { o, lse } = forward.results;
  const [hostO, hostLse] = [await ctx.download(o), await ctx.download(lse)];
  checkForward(call, { o: hostO, lse: hostLse }, places);
  yield { ...columns, pass: 'forward', ...forward.row };
  const backward = await timed(
    () => sdpaBackward(ctx, { q, k, v, o, lse, dO }),
    ({ dq }) => dq,
  );
  const { dq, dk, dv } = backward.results;
  const [hostDq, hostDk, hostDv] = await Promise.all([dq, dk, dv].map(tensor => ctx.download(tensor)));
  checkBackward(call, { o: hostO, lse: hostLse, dO: host.dO, dq: hostDq, dk: hostDk, dv: hostDv }, places);
  yield { ...columns, pass: 'backward', ...backward.row };
}
