import { normalise } from '../src/attention/call/normalise.ts';
import { cpuEngine } from '../src/cpu/engine.ts';
import { kernelModules, supportedVariants } from '../src/cpu/kernels/host-kernels.ts';
import { sdpa } from '../src/cpu/sdpa.ts';
import { forwardOnThreads } from '../src/cpu/threads/passes/forward-on-threads.ts';
import { createPool } from '../src/cpu/threads/pool.ts';
import { takeOperands } from '../src/cpu/threads/shared/taken-operands.ts';
import { sdpa as exactSdpa } from '../src/reference/sdpa.ts';
import { Tensor } from '../src/tensor/tensor.ts';

/**
 * Runs the CPU engine in a page: synchronously, through the engine, and on workers from the script that the
 * page may fetch.
 */
async function run(): Promise<unknown> {
  const [q, k, v] = [1, 2, 3].map(seed => {
    const values = Float32Array.from({ length: 2 * 200 * 16 }, (_, n) => Math.sin(seed * n));
    return Tensor.from(values, [1, 2, 200, 16]);
  });
  const options = { causal: true };
  const exact = exactSdpa(q, k, v, options).o.toFloat32();
  const error = (o: Tensor): number =>
    o.toFloat32().reduce((most, x, n) => Math.max(most, Math.abs(x - exact[n])), 0);

  const [variant] = supportedVariants();
  const atOnce = sdpa(q, k, v, options).o;
  const { o } = await cpuEngine({ threads: 1 }).sdpa(q, k, v, options);
  await kernelModules.compile(variant);
  const source = await (await fetch('/worker.js')).text();
  const pool = createPool(2, source, { kind: 'set-up', variant, module: kernelModules.get(variant) });
  const { problem, operands } = normalise({ q, k, v }, options);
  const threaded = (await forwardOnThreads(problem, takeOperands(problem, operands), pool)).o.toFloat32();
  pool.terminate();
  const single = o.toFloat32();
  return {
    variant,
    isolated: crossOriginIsolated,
    errors: [error(atOnce), error(o)],
    sameBits: threaded.every((x, n) => Object.is(x, single[n])),
  };
}

Object.assign(globalThis, { result: run() });
