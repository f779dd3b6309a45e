import { createContext } from '../src/index.ts';
import { exactResults, gpuResults } from '../testing/attention-call.ts';
import { call } from './call.ts';

/** Forward and backward on the page's own adapter: the values of each result. */
async function run(): Promise<Record<string, number[]>> {
  const ctx = await createContext();
  const results = await gpuResults(ctx, call, exactResults(call));
  ctx.destroy();
  return Object.fromEntries(Object.entries(results).map(([name, t]) => [name, [...t.toFloat64()]]));
}

Object.assign(globalThis, { result: run() });
