import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../testing/tiny-model.ts';
import { createTrainer, generate, loadModel, type Model, mergeAdapter, saveAdapter } from './index.ts';
import { downloadAll } from './model/download.ts';
import { publishParameters } from './training/parameters.ts';

const engine = cpuEngine();
const load = () => loadModel(filesOf(tinyLlama), { engine });
const batch = { inputs: { tokens: [[1, 2, 3]] }, labels: [[1, 2, 3]] };
const lora = { rank: 2, alpha: 4, dropout: 0, targets: ['q_proj'], rankStabilised: false };

test.each<[string, (model: Model<Tensor>) => unknown]>([
  ['logits', model => model.logits(batch.inputs)],
  ['attention', model => model.attentionProbabilities(batch.inputs)],
  ['generation', model => generate(model, [1], { maxNewTokens: 1 }).next()],
  ['training', async model => createTrainer(model, { learningRate: 0.1 })],
  ['an adapter to save', model => saveAdapter(model)],
  ['an adapter to merge', model => mergeAdapter(model)],
])('a released model is refused: %s', async (_, call) => {
  const model = await load();
  await model.logits(batch.inputs);
  model.release();
  model.release();
  await expect(call(model)).rejects.toThrow('model has been released');
});

test('a trainer of a released model, and a released trainer, are refused', async () => {
  const model = await load();
  const [first, second] = [0, 1].map(() => createTrainer(model, { learningRate: 0.01 }));
  const { loss } = await first.evaluate(batch);
  first.release();
  first.release();
  for (const call of [first.step(batch), first.evaluate(batch), first.gradients(batch), first.snapshot()])
    await expect(call).rejects.toThrow('trainer has been released');
  expect((await second.step(batch)).loss).toBe(loss);
  model.release();
  await expect(second.step(batch)).rejects.toThrow('model has been released');
});

test('of two trainers of a model, the second to step is refused', async () => {
  const model = await load();
  const [first, second] = [0, 1].map(() => createTrainer(model, { learningRate: 0.01 }));
  await first.step(batch);
  const expected = await first.evaluate(batch);
  const message = 'of this trainer: create a new trainer';
  await expect(second.step(batch)).rejects.toThrow(message);
  await expect(second.snapshot()).rejects.toThrow(message);
  expect(await second.evaluate(batch)).toEqual(expected);
  expect(await first.step(batch)).toMatchObject({ step: 1, loss: expected.loss });
});

test('of two trainers that share only some parameters, the second to step is refused', async () => {
  const model = await load();
  const [first, second] = [/embed/, /q_proj/].map(names =>
    createTrainer(model, { learningRate: 0.01, groups: [{ names, rate: 0 }] }),
  );
  await first.step(batch);
  await expect(second.step(batch)).rejects.toThrow('of this trainer: create a new trainer');
  expect(await first.step(batch)).toMatchObject({ step: 1 });
});

test('a trainer whose adapter was merged is refused', async () => {
  const model = await load();
  const trainer = createTrainer(model, { learningRate: 0.01, lora });
  await trainer.step(batch);
  await mergeAdapter(model);
  await expect(trainer.step(batch)).rejects.toThrow('of this trainer: create a new trainer');
});

test('a step is refused if the adapter is merged while the step waits', async () => {
  const model = await load();
  const trainer = createTrainer(model, { learningRate: 0.1, lora });
  for (const call of [() => trainer.step(batch), () => trainer.gradients(batch)]) {
    const merging = model.adapter && mergeAdapter(model);
    await expect(call()).rejects.toThrow(
      /^model no longer has 'model.layers.0.self_attn.q_proj.lora_A.weight' of this trainer: create a new/,
    );
    await merging;
  }
  expect([...model.weights.keys()].filter(name => name.includes('lora'))).toEqual([]);
});

test('a step that ends after a merge leaves the weights of the model as they are', async () => {
  const model = await load();
  const trainer = createTrainer(model, { learningRate: 0.1, lora });
  const before = [...model.weights.keys()];
  const values = new Map(Object.entries(model.adapter?.tensors ?? {}));
  expect(values.size).toBeGreaterThan(0);
  model.adapter = null;
  publishParameters(model, true, { values, memory: [] });
  expect([...model.weights.keys()]).toEqual(before);
  expect(model.adapter).toBe(null);
  trainer.release();
});

/** The numbers of all weights of a model. */
async function weightsOf(model: Model<Tensor>): Promise<readonly Float32Array[]> {
  return [...(await downloadAll(engine, model.weights)).values()].map(tensor => tensor.toFloat32());
}

describe.each([true, false])(
  'after a trainer of all weights, released before the next one: %s',
  isReleased => {
    async function trained(): Promise<{ readonly model: Model<Tensor>; readonly end: () => void }> {
      const model = await load();
      const first = createTrainer(model, { learningRate: 0.01 });
      await first.step(batch);
      if (isReleased) first.release();
      return { model, end: () => first.release() };
    }

    test('a trainer of some of the weights does not change the others', async () => {
      const { model, end } = await trained();
      const names = [...model.weights.keys()];
      const before = await weightsOf(model);
      const second = createTrainer(model, { learningRate: 0.01, groups: [{ names: /embed/, rate: 0 }] });
      for (let n = 0; n < 2; n++) await second.step(batch);
      end();
      const { loss } = await second.step(batch);
      second.release();
      expect(loss).toBeLessThan(3);
      const after = await weightsOf(model);
      for (const [n, name] of names.entries())
        if (/embed/.test(name)) expect(after[n]).toEqual(before[n]);
        else expect(after[n]).not.toEqual(before[n]);
      model.release();
    });

    test('a run of some of the weights continues', async () => {
      const options = { learningRate: 0.01, groups: [{ names: /embed/, rate: 0 }] };
      const { model, end } = await trained();
      const second = createTrainer(model, options);
      await second.step(batch);
      const from = await second.snapshot();
      const { loss } = await second.evaluate(batch);
      second.release();
      const third = createTrainer(model, { ...options, from });
      expect(await third.step(batch)).toMatchObject({ step: 1, loss });
      end();
      model.release();
    });

    test('an adapter merges into some of the weights', async () => {
      const { model, end } = await trained();
      const second = createTrainer(model, { learningRate: 0.01, lora });
      await second.step(batch);
      const { loss } = await second.evaluate(batch);
      await mergeAdapter(model);
      for (const trainer of [second, { release: end }]) trainer.release();
      const third = createTrainer(model, { learningRate: 0.01 });
      expect((await third.evaluate(batch)).loss).toBeCloseTo(loss, 5);
      await third.step(batch);
      model.release();
    });
  },
);
