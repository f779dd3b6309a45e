import { cost, type Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import * as reference from '@tilewise/core/reference';
import {
  type BenchConfig,
  type BenchMachine,
  type BenchRow,
  benchInputs,
  errorOf,
  forwardProblem,
  headOf,
  isRight,
  median,
} from './bench.ts';

/** On threads where the page may have them. */
const engine = cpuEngine();

export function cpuMachine(instead?: string): BenchMachine {
  return {
    engine: 'cpu',
    description: engine.description,
    vendor: '',
    architecture: '',
    features: [],
    software: true,
    clock: 'wall clock',
    instead,
  };
}

/**
 * Measures one sequence length on the CPU engine, forward and backward; one head is compared with the float64
 * reference.
 */
export async function* benchOnCpu(config: BenchConfig, heads: number, S: number): AsyncGenerator<BenchRow> {
  const { causal, dtype } = config;
  const inputs = benchInputs(heads, S, config);
  const { q, k, v, dO } = inputs;
  const work = cost(forwardProblem(inputs, causal));
  const forward = await engine.sdpa(q, k, v, { causal });
  const call = { q, k, v, dO, o: forward.o, lse: forward.lse };
  const gradients = await engine.sdpaBackward(call, { causal });
  const one = Object.fromEntries(
    Object.entries(call).map(([name, tensor]) => [name, headOf(tensor, heads - 1)]),
  ) as typeof call;
  /** The largest error of results by name. */
  const error = (results: Results, exact: Results): number =>
    Object.entries(results).reduce((worst, [name, got]) => {
      const right = exact[name];
      return right ? Math.max(worst, errorOf(headOf(got, heads - 1), right)) : Number.POSITIVE_INFINITY;
    }, 0);
  const exact = reference.sdpa(one.q, one.k, one.v, { causal });
  const { dq, dk, dv } = reference.sdpaBackward(one, { causal });
  const row = async (pass: BenchRow['pass'], off: number, run: () => Promise<unknown>): Promise<BenchRow> => {
    const { flops, bytes } = work[pass];
    const base = { implementation: 'flash', pass, heads, S, bytes, error: off } as const;
    if (!isRight(off, dtype)) return { ...base, failure: 'wrong' };
    const ms = await time(run);
    return { ...base, ms, tflops: flops / ms / 1e9 };
  };
  const off = {
    forward: error({ o: forward.o }, { o: exact.o }),
    backward: error({ dq: gradients.dq, dk: gradients.dk, dv: gradients.dv }, { dq, dk, dv }),
  };
  yield row('forward', off.forward, () => engine.sdpa(q, k, v, { causal }));
  yield row('backward', off.backward, () => engine.sdpaBackward(call, { causal }));
}

type Results = Readonly<Record<string, Tensor>>;

const mostMs = 600;

async function time(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let total = 0; times.length < 3 || (times.length < 30 && total < mostMs); ) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
    total += times.at(-1) ?? 0;
  }
  return median(times);
}
