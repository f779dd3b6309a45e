import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { summary } from '@tilewise/device-report/measure';
import { compile, matmul, type Variable } from '@tilewise/graph/ops';
import { createContext, sdpa, webgpuEngine } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { replayOf } from '../../gpu/replay.ts';
import type { Suite } from '../../suite/suite.ts';

const rounds = 35;
/** Untimed rounds. On a slow machine, the JavaScript engine still compiles after ten thousand calls. */
const warmUpRounds = 100;
/**
 * The number of calls before the event loop has its turn, as between the frames or the steps of a program.
 * In longer rounds, the promises of submitted work pile up.
 */
const callsOfRound = 200;

/** A problem so small that only the fixed cost of a call is left. */
const host = Tensor.zeros([1, 4, 32, 16]);
const options = { causal: true };

/** One head of 8 rows on the CPU, where kernels take part of the time, too. */
const tiny = Tensor.zeros([1, 1, 8, 8]);

const products = 100;

/** Products that cannot be fused. */
function chain({ x, w }: Readonly<Record<'x' | 'w', Variable>>): Variable {
  let product = x;
  for (let n = 0; n < products; n++) product = matmul(product, w);
  return product;
}

/** The host's work for a call beyond the WebGPU calls that it makes; on the CPU, the whole call. */
export const overhead: Suite = {
  name: 'overhead',
  summary:
    'fixed cost of a repeated eager call, and of a graph of 100 products, next to the bare WebGPU calls',
  options: {},
  async run(_, progress) {
    progress('cpu');
    const onCpu = await timeOnCpu();
    const { adapter, description } = await openGpu({ backend: 'null' });
    const ctx = await createContext({ adapter });
    const row = async (of: string, call: () => unknown, calls: number) => {
      progress(of);
      await call();
      await ctx.submitted();
      const bare = await replayOf(ctx.device, async () => call());
      const [own, replayed] = await timeInTurn([call, bare], calls, () =>
        ctx.device.queue.onSubmittedWorkDone(),
      );
      return { of, 'call µs': own, 'bare µs': replayed, 'beyond µs': own - replayed, adapter: description };
    };
    try {
      const q = ctx.upload(host);
      const eager = await row(
        'webgpu, eager',
        () => {
          const { o, lse } = sdpa(ctx, q, q, q, options);
          for (const tensor of [o, lse]) tensor.destroy();
        },
        callsOfRound,
      );
      const engine = webgpuEngine(ctx);
      const program = compile(engine, chain, { x: [8, 8], w: [8, 8] });
      const [x, w] = [0, 1].map(() => engine.upload(Tensor.zeros([8, 8])));
      const outputs = [engine.primitives.allocate(x)];
      const whole = await row('webgpu, graph', () => program({ x, w }, outputs), callsOfRound / products);
      program.release();
      return [
        { ...eager, target: 20 },
        { ...whole, target: '' },
        { of: 'cpu, eager', 'call µs': onCpu, 'bare µs': '', 'beyond µs': onCpu, adapter: '', target: 10 },
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
  const [time] = await timeInTurn([() => cpu.sdpa(resident, resident, resident, options)], callsOfRound);
  return time;
}

/** The median processor time of each call in µs. After each round, `settle` waits for the GPU. */
async function timeInTurn(
  calls: readonly (() => unknown)[],
  count: number,
  settle: () => Promise<unknown> = () => Promise.resolve(),
): Promise<number[]> {
  const times = calls.map(() => [] as number[]);
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [n, run] of calls.entries()) {
      const before = process.cpuUsage();
      for (let call = 0; call < count; call++) await run();
      // Short times are divided between user and system by samples, so only their sum is exact.
      const { user, system } = process.cpuUsage(before);
      await settle();
      if (round >= 0) times[n].push((user + system) / count);
    }
  }
  return times.map(taken => summary(taken).median);
}
