import { cost, type Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import * as reference from '@tilewise/core/reference';
import { time } from '../timing/timing.ts';
import { errorOf, isRight } from './accuracy.ts';
import { forwardProblem, headOf, measuredInputs } from './inputs.ts';
import type { Machine, Measurement, MeasureSettings } from './measurement.ts';

/** The CPU engine as a machine, and why the machine is not a GPU. */
export function cpuMachine(instead?: string): Machine {
  const { description } = cpuEngine();
  return { engine: 'cpu', description, software: true, clock: 'wall clock', instead };
}

/**
 * Measures one sequence length on the CPU engine, forward and backward; one head is compared with the float64
 * reference.
 */
export async function* measureOnCpu(
  settings: MeasureSettings,
  heads: number,
  S: number,
): AsyncGenerator<Measurement> {
  const { causal, dtype } = settings;
  // Uses threads if the page may have them.
  const engine = cpuEngine();
  const inputs = measuredInputs(heads, S, settings);
  const { q, k, v, dO } = inputs;
  const work = cost(forwardProblem(inputs, causal));
  const forward = await engine.sdpa(q, k, v, { causal });
  const call = { q, k, v, dO, o: forward.o, lse: forward.lse };
  const gradients = await engine.sdpaBackward(call, { causal });
  const one = Object.fromEntries(
    Object.entries(call).map(([name, tensor]) => [name, headOf(tensor, heads - 1)]),
  ) as typeof call;
  /** The largest error of the results, by name. */
  const error = (results: Results, exact: Results): number =>
    Object.entries(results).reduce((worst, [name, got]) => {
      const right = exact[name];
      return right ? Math.max(worst, errorOf(headOf(got, heads - 1), right)) : Number.POSITIVE_INFINITY;
    }, 0);
  const exact = reference.sdpa(one.q, one.k, one.v, { causal });
  const { dq, dk, dv } = reference.sdpaBackward(one, { causal });
  const row = async (
    pass: Measurement['pass'],
    off: number,
    run: () => Promise<unknown>,
  ): Promise<Measurement> => {
    const { flops, bytes } = work[pass];
    const base = { implementation: 'flash', pass, heads, S, flops, bytes, error: off } as const;
    if (!isRight(off, dtype)) return { ...base, failure: 'wrong' };
    const { median } = await time(run, { ms: 600 });
    return { ...base, ms: median };
  };
  const off = {
    forward: error({ o: forward.o }, { o: exact.o }),
    backward: error({ dq: gradients.dq, dk: gradients.dk, dv: gradients.dv }, { dq, dk, dv }),
  };
  yield row('forward', off.forward, () => engine.sdpa(q, k, v, { causal }));
  yield row('backward', off.backward, () => engine.sdpaBackward(call, { causal }));
}

type Results = Readonly<Record<string, Tensor>>;
