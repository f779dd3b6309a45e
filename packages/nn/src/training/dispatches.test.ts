import type { Tensor } from '@tilewise/core';
import { createContext, webgpuEngine } from '@tilewise/webgpu';
import { countWork, openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { readModel } from '../architectures/read-model.ts';
import { createModel } from '../create-model.ts';
import type { LoadOptions } from '../model/model.ts';
import { createTrainer } from './trainer.ts';
import type { TrainerOptions } from './trainer-options.ts';

/** Numbers of tokens that give batches as long as the demo's. */
const tokens = Array.from({ length: 32 }, (_, b) => Array.from({ length: 24 }, (_, n) => (n * (b + 3)) % 26));
const batch = { inputs: { tokens }, labels: tokens };

const gpt2 = { model_type: 'gpt2', vocab_size: 26, n_embd: 32, n_head: 4, n_positions: 24 };
const llama = {
  ...{ model_type: 'llama', vocab_size: 26, hidden_size: 32, intermediate_size: 64 },
  ...{ num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 24 },
};
const configOf = {
  gpt2: (layers: number) => ({ ...gpt2, n_layer: layers }),
  llama: (layers: number) => ({ ...llama, num_hidden_layers: layers }),
};

/** The dispatches and bytes of only the loss of a model, and of a step, on Dawn's null backend. */
async function workOf(
  config: Readonly<Record<string, unknown>>,
  optimizer: TrainerOptions['optimizer'] = {},
  precision: Pick<LoadOptions<Tensor>, 'dtype' | 'autocast'> = {},
) {
  const { adapter } = await openGpu({ backend: 'null' });
  const device = await adapter.requestDevice();
  const ctx = await createContext({ device });
  const model = createModel(readModel(config), { engine: webgpuEngine(ctx), ...precision });
  const trainer = createTrainer(model, { learningRate: 1e-3, optimizer });
  const work = countWork(device);
  const taken = async (run: () => Promise<unknown>) => {
    // The first run also copies the parameters to their buckets.
    await run();
    await ctx.submitted();
    Object.assign(work, { dispatches: 0, bytes: 0 });
    await run();
    await ctx.submitted();
    return { ...work };
  };
  try {
    return {
      forward: await taken(() => trainer.evaluate(batch)),
      step: await taken(() => trainer.step(batch)),
    };
  } finally {
    ctx.destroy();
  }
}

test.each([
  ['gpt2', { forward: 12, backward: 24, model: 80, megabytes: 30 }],
  ['llama', { forward: 12, backward: 24, model: 84, megabytes: 23 }],
] as const)('a layer of %s, and a step of two layers, take at most %j', async (name, budget) => {
  const [two, three] = [await workOf(configOf[name](2)), await workOf(configOf[name](3))];
  const forward = three.forward.dispatches - two.forward.dispatches;
  const backward = three.step.dispatches - two.step.dispatches - forward;
  expect(forward).toBeLessThanOrEqual(budget.forward);
  expect(backward).toBeLessThanOrEqual(budget.backward);
  expect(two.step.dispatches).toBeLessThanOrEqual(budget.model);
  expect(two.step.bytes).toBeLessThanOrEqual(budget.megabytes * 1e6);
});

test.each([
  ['gpt2', { forward: 7, backward: 21, megabytes: 22 }],
  ['llama', { forward: 12, backward: 22, megabytes: 17 }],
] as const)('a layer of %s in f16 takes at most %j, and moves fewer bytes', async (name, budget) => {
  const half = { dtype: 'f16', autocast: 'f16' } as const;
  const [two, three] = [await workOf(configOf[name](2), {}, half), await workOf(configOf[name](3), {}, half)];
  const forward = three.forward.dispatches - two.forward.dispatches;
  expect(forward).toBeLessThanOrEqual(budget.forward);
  expect(three.step.dispatches - two.step.dispatches - forward).toBeLessThanOrEqual(budget.backward);
  expect(two.step.bytes).toBeLessThanOrEqual(budget.megabytes * 1e6);
});

test('an optimizer moves all parameters of one group at once', async () => {
  const step = async (optimizer: TrainerOptions['optimizer']) =>
    (await workOf(configOf.gpt2(2), optimizer)).step.dispatches;
  const adamw = await step({ kind: 'adamw' });
  expect(await step({ kind: 'sgd' })).toBe(adamw);
  expect(await step({ kind: 'sgd', momentum: 0.9, nesterov: true })).toBe(adamw);
});

test.each(['the trainer', 'the model'])('all memory is freed if %s is released first', async first => {
  const { adapter } = await openGpu({ backend: 'null' });
  const ctx = await createContext({ adapter });
  const model = createModel(readModel(configOf.gpt2(1)), { engine: webgpuEngine(ctx) });
  const trainer = createTrainer(model, { learningRate: 1e-3 });
  await trainer.step(batch);
  const next = createTrainer(model, { learningRate: 1e-3 });
  trainer.release();
  await next.step(batch);
  for (const each of first === 'the model' ? [model, next] : [next, model]) each.release();
  await ctx.submitted();
  ctx.trim();
  expect(ctx.memory.current).toBe(0);
  ctx.destroy();
});
