import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { createContext, type GpuContext, type GpuTensor, webgpuEngine } from '@tilewise/webgpu';
import { countWork, openGpu, type Work } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sines } from '../../testing/sines.ts';
import {
  add,
  attention,
  compile,
  matmul,
  multiply,
  reshape,
  sigmoid,
  type Variable,
} from '../frontends/functions/index.ts';

let ctx: GpuContext;
let engine: TensorEngine<GpuTensor>;
let work: Work;
beforeAll(async () => {
  const { adapter } = await openGpu();
  ctx = await createContext({ adapter });
  engine = webgpuEngine(ctx);
  work = countWork(ctx.device);
});
afterAll(() => ctx.destroy());

const square = [16, 16] as const;
const seedSpec = { shape: [], dtype: 'i64' } as const;
const specs = { x: [1, 16], wq: square, wk: square, wv: square, wo: square, factor: [], seed: seedSpec };
type Inputs = Readonly<Record<keyof typeof specs, Variable>>;

/** Where the seed of attention's dropout is, if there is dropout. */
type Seed = 'none' | 'on the host' | 'on the device';

/** A layer on one token: three products that do not depend on each other, with a step after each. */
const layer =
  (place: Seed) =>
  ({ x, wq, wk, wv, wo, factor, seed }: Inputs) => {
    const [q, k, v] = [wq, wk, wv].map(w => reshape(multiply(sigmoid(matmul(x, w)), factor), [1, 2, 1, 8]));
    const dropout = { p: 0.5, seed, offset: 1n };
    const o = attention(q, k, v, place === 'none' ? {} : { dropout });
    return add(matmul(reshape(o, [1, 16]), wo), x);
  };

const weights = Object.fromEntries(
  (['wq', 'wk', 'wv', 'wo'] as const).map((name, n) => [name, sines([16, 16], n + 2)]),
) as Readonly<Record<'wq' | 'wk' | 'wv' | 'wo', Tensor>>;

/**
 * Runs a layer with other numbers each time, until its dispatches are fewer: the kernels of several steps are
 * compiled in the background. Returns the dispatches of the first and of the last run.
 */
async function dispatchesOfRuns(place: Seed): Promise<readonly [first: number, last: number]> {
  const run = compile(engine, layer(place), specs);
  const onCpu = compile(cpuEngine({ threads: 1 }), layer(place), specs);
  const result = Tensor.zeros([1, 16]);
  const uploaded = Object.fromEntries(
    Object.entries(weights).map(([name, tensor]) => [name, engine.upload(tensor)]),
  ) as Readonly<Record<keyof typeof weights, GpuTensor>>;
  const onDevice = place === 'on the device' && {
    seed: engine.upload(Tensor.from([3, 0], [2], { dtype: 'u32' })),
  };
  let first = 0;
  for (let n = 0; n < 2000; n++) {
    const numbers = { x: sines([1, 16], n), factor: 1 / (n + 1), seed: onDevice ? 3n : BigInt(n) };
    const before = work.dispatches;
    await run({ ...uploaded, ...numbers, ...onDevice }, [result]);
    const dispatches = work.dispatches - before;
    const wanted = (await onCpu({ ...weights, ...numbers })).toFloat32();
    for (const [i, value] of result.toFloat32().entries()) expect(value).toBeCloseTo(wanted[i], 5);
    if (n === 0) first = dispatches;
    if (dispatches < first) {
      run.release();
      return [first, dispatches];
    }
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error(`each of 2000 runs took ${first} dispatches`);
}

test('when the same tensors recur, steps that do not depend on each other share a dispatch', async () => {
  const [first, last] = await dispatchesOfRuns('none');
  // The three products are one dispatch instead of three.
  expect(first - last).toBe(2);
}, 180_000);

test('the steps around attention share a dispatch although the seed of its dropout changes', async () => {
  const [first, last] = await dispatchesOfRuns('on the host');
  expect(first - last).toBe(2);
}, 180_000);

test('the steps around attention share a dispatch although its seed is read back from the device', async () => {
  const [first, last] = await dispatchesOfRuns('on the device');
  expect(first - last).toBe(2);
}, 180_000);

test('results that are read back are right in every run, also after a run that did not read one back', async () => {
  const run = compile(
    engine,
    ({ a, b }: Readonly<Record<'a' | 'b', Variable>>) => [add(a, b), multiply(a, b)],
    {
      ...{ a: [6], b: [6] },
    },
  );
  const results = [Tensor.zeros([6]), Tensor.zeros([6])];
  for (let n = 0; n < 5; n++) {
    const [a, b] = [sines([6], n), sines([6], n + 1)];
    // In one run, only one of the results is read back.
    const outputs = n === 2 ? [undefined, results[1]] : results;
    const [sum, product] = (await run({ a, b }, outputs)) as (Tensor | GpuTensor)[];
    const values = sum instanceof Tensor ? sum : await engine.download(sum);
    const [x, y] = [a.toFloat32(), b.toFloat32()];
    expect([...values.toFloat32()]).toEqual([...x].map((own, i) => Math.fround(own + y[i])));
    expect(product).toBe(results[1]);
    expect([...results[1].toFloat32()]).toEqual([...x].map((own, i) => Math.fround(own * y[i])));
  }
  run.release();
});
