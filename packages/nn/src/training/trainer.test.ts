import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tensor, TilewiseError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { sharedDir } from '@tilewise/test-data';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../testing/tiny-model.ts';
import { encodeSafetensors, givenFiles, readSafetensors } from '../files/checkpoint/index.ts';
import { loadModel } from '../load-model.ts';
import { mergeAdapter } from '../lora/merge-adapter.ts';
import { adapterFiles, loadAdapter, readLoraConfig } from '../lora/peft-files.ts';
import { saveAdapter } from '../lora/save-adapter.ts';
import { createTrainer } from './trainer.ts';
import type { Snapshot } from './trainer-options.ts';
import { loadCheckpoint, saveCheckpoint } from './training-checkpoint.ts';

const engine = cpuEngine();
const load = () => loadModel(filesOf(tinyLlama), { engine });
const batch = { inputs: { tokens: [[1, 2, 3, 4, 5]] }, labels: [[1, 2, 3, 4, 5]] };
const lora = { rank: 2, alpha: 4, dropout: 0, targets: ['q_proj', 'v_proj'], rankStabilised: false };

test('gradients equal difference quotients', async () => {
  const model = await load();
  const trainer = createTrainer(model, { learningRate: 0.01 });
  const { gradients } = await trainer.gradients(batch);
  for (const name of [
    'model.embed_tokens.weight',
    'model.layers.1.self_attn.k_proj.weight',
    'model.norm.weight',
  ]) {
    const weight = model.weights.get(name) as Tensor;
    const at = Math.floor(weight.size / 2);
    const moved = async (by: number): Promise<number> => {
      const values = weight.toFloat64().map((x, n) => (n === at ? x + by : x));
      model.weights.set(name, Tensor.from(values, weight.shape));
      return (await trainer.evaluate(batch)).loss;
    };
    const slope = ((await moved(1e-2)) - (await moved(-1e-2))) / 2e-2;
    model.weights.set(name, weight);
    expect(gradients.get(name)?.toFloat64()[at]).toBeCloseTo(slope, 3);
  }
});

test('training learns a text, and the same run gives the same losses', async () => {
  const run = async (): Promise<number[]> => {
    const trainer = createTrainer(await load(), { learningRate: 0.02 });
    const losses: number[] = [];
    for (let n = 0; n < 15; n++) losses.push((await trainer.step(batch)).loss);
    expect(trainer.steps).toBe(15);
    trainer.release();
    return losses;
  };
  const losses = await run();
  expect(losses[14]).toBeLessThan(losses[0] / 3);
  expect(await run()).toEqual(losses);
});

test.each([undefined, lora])('a saved run continues bit for bit, with the adapter %j', async adapter => {
  const start = async (from?: Snapshot) =>
    createTrainer(await load(), { learningRate: 0.02, lora: adapter, seed: 4, from });
  const whole = await start();
  const losses: number[] = [];
  for (let n = 0; n < 6; n++) losses.push((await whole.step(batch)).loss);
  const first = await start();
  for (let n = 0; n < 3; n++) await first.step(batch);
  const second = await start(await loadCheckpoint(await saveCheckpoint(first)));
  expect(second.steps).toBe(3);
  for (let n = 3; n < 6; n++) expect((await second.step(batch)).loss).toBe(losses[n]);
  await expect(start({ steps: 1, tensors: new Map() })).rejects.toThrow('it is the state of another run');
  await expect(loadCheckpoint(encodeSafetensors(new Map()))).rejects.toThrow('is not the state of a run');
});

test('a state that does not fit into memory does not change the model', async () => {
  let left = Infinity;
  const upload = (tensor: Tensor): Tensor => {
    if (--left < 0) throw new TilewiseError('OUT_OF_MEMORY', 'no memory is left');
    return engine.upload(tensor);
  };
  const model = await loadModel(filesOf(tinyLlama), { engine: { ...engine, upload } });
  const first = createTrainer(model, { learningRate: 0.02 });
  const { loss } = await first.evaluate(batch);
  const from = await first.snapshot();
  left = 3;
  expect(() => createTrainer(model, { learningRate: 0.02, from })).toThrow('no memory is left');
  left = Infinity;
  expect((await first.evaluate(batch)).loss).toBe(loss);
});

test('labels of −100 are ignored', async () => {
  const trainer = createTrainer(await load(), { learningRate: 0.01 });
  const part = await trainer.evaluate({ ...batch, labels: [[1, 2, 3, -100, -100]] });
  const whole = await trainer.evaluate({ inputs: { tokens: [[1, 2, 3]] }, labels: [[1, 2, 3]] });
  expect(part.loss).toBeCloseTo(whole.loss, 5);
  await expect(trainer.evaluate({ ...batch, labels: [[-100, -100, -100, -100, -100]] })).rejects.toThrow(
    'other than -100',
  );
});

test('tokens and labels that are not numbers are refused by name', async () => {
  const trainer = createTrainer(await load(), { learningRate: 0.01 });
  const strange = [[1, 2, '3', 4, 5]] as unknown as number[][];
  await expect(trainer.step({ ...batch, labels: strange })).rejects.toThrow(
    'labels must be integers from 0 to 10, or -100, got "3"',
  );
  await expect(trainer.step({ ...batch, inputs: { tokens: strange } })).rejects.toThrow(
    'tokens must be integers from 0 to 10, got "3"',
  );
});

test('steps that are not awaited run one after the other', async () => {
  const others = { inputs: { tokens: [[5, 4, 3, 2, 1]] }, labels: [[5, 4, 3, 2, 1]] };
  const [one, two] = [await load(), await load()].map(model => createTrainer(model, { learningRate: 0.02 }));
  const wrong = { ...batch, labels: [[1, 2]] };
  const calls = [one.step(batch), one.step(wrong), one.step(others), one.evaluate(batch), one.snapshot()];
  const [first, failed, second, evaluation, snapshot] = await Promise.allSettled(calls);
  expect(first).toMatchObject({ value: await two.step(batch) });
  expect(failed).toMatchObject({ reason: { code: 'INVALID_SHAPE' } });
  expect(second).toMatchObject({ value: await two.step(others) });
  expect(evaluation).toMatchObject({ value: await two.evaluate(batch) });
  expect(snapshot).toMatchObject({ value: await two.snapshot() });
});

test('evaluations that are not awaited give the losses of their own batches', async () => {
  const trainer = createTrainer(await load(), { learningRate: 0.01 });
  const others = [
    [5, 4, 3, 2, 1],
    [2, 2, 4, 4, 6],
  ].map(row => ({ inputs: { tokens: [row] }, labels: [row] }));
  const alone: number[] = [];
  for (const each of [batch, ...others]) alone.push((await trainer.evaluate(each)).loss);
  const together = await Promise.all([batch, ...others].map(each => trainer.evaluate(each)));
  expect(together.map(({ loss }) => loss)).toEqual(alone);
});

test('a new adapter changes nothing, only the adapter is trained, and its files restore it', async () => {
  const model = await load();
  const before = (await model.logits(batch.inputs)).toFloat32();
  const weights = new Map([...model.weights].map(([name, t]) => [name, t.toFloat32()]));
  const trainer = createTrainer(model, { learningRate: 0.05, lora, seed: 1 });
  expect([...(await model.logits(batch.inputs)).toFloat32()]).toEqual([...before]);
  expect(trainer.trained).toHaveLength(8);
  const losses: number[] = [];
  for (let n = 0; n < 10; n++) losses.push((await trainer.step(batch)).loss);
  expect(losses[9]).toBeLessThan(losses[0]);
  for (const [name, values] of weights) expect(model.weights.get(name)?.toFloat32()).toEqual(values);

  const tensors = new Map(Object.entries(model.adapter?.tensors ?? {}));
  const written = Object.entries(adapterFiles(lora, tensors, { transposed: false }));
  const files = givenFiles(written.map(([name, bytes]) => new File([new Uint8Array(bytes)], name)));
  const again = await load();
  again.adapter = await loadAdapter(files, again.layers.linear, engine);
  expect(again.adapter.config).toEqual(lora);
  expect((await again.logits(batch.inputs)).toFloat32()).toEqual(
    (await model.logits(batch.inputs)).toFloat32(),
  );
});

test('a merged adapter gives the same logits without it', async () => {
  const gpt2 = { model_type: 'gpt2', vocab_size: 11, n_embd: 8, n_head: 2, n_layer: 1, n_positions: 16 };
  const cases = [
    { config: tinyLlama, targets: lora.targets },
    { config: gpt2, targets: ['c_attn', 'mlp.c_proj'] },
  ];
  for (const { config, targets } of cases) {
    const model = await loadModel(filesOf(config), { engine });
    const plain = (await model.logits(batch.inputs)).toFloat32();
    const trainer = createTrainer(model, { learningRate: 0.05, lora: { ...lora, targets } });
    for (let n = 0; n < 3; n++) await trainer.step(batch);
    const trained = (await model.logits(batch.inputs)).toFloat32();
    expect(Math.max(...trained.map((x, n) => Math.abs(x - plain[n])))).toBeGreaterThan(0.01);
    await mergeAdapter(model);
    const merged = (await model.logits(batch.inputs)).toFloat32();
    for (const [n, x] of merged.entries()) expect(x).toBeCloseTo(trained[n], 4);
    await expect(mergeAdapter(model)).rejects.toThrow('has no adapter');
  }
});

test("an adapter's dropout is drawn again in each step, from the seed, and not in evaluation", async () => {
  const dropping = { ...lora, dropout: 0.5 };
  const losses = async (config: typeof lora, seed: number): Promise<number[]> => {
    const trainer = createTrainer(await load(), { learningRate: 0.05, lora: config, seed });
    const all: number[] = [];
    for (let n = 0; n < 4; n++) all.push((await trainer.step(batch)).loss);
    expect(await trainer.evaluate(batch)).toEqual(await trainer.evaluate(batch));
    return all;
  };
  const [first, again, plain] = [await losses(dropping, 1), await losses(dropping, 1), await losses(lora, 1)];
  expect(again).toEqual(first);
  expect(first[0]).toBe(plain[0]);
  expect(first.slice(2)).not.toEqual(plain.slice(2));
});

test('each batch of each step draws a new dropout, however many batches a step has', async () => {
  const options = { lora: { ...lora, dropout: 0.5 }, seed: 1 };
  const model = await load();
  const first = createTrainer(model, { learningRate: 0.5, ...options });
  await first.step(batch);
  first.release();
  const frozen = createTrainer(model, { learningRate: 0, ...options });
  await frozen.step(batch);
  const both = (await frozen.step([batch, batch])).loss;
  const apart = [(await frozen.step(batch)).loss, (await frozen.step(batch)).loss];
  expect(both).not.toBe((apart[0] + apart[1]) / 2);
  expect(new Set([both, ...apart]).size).toBe(3);
});

test('a target that matches no layer is refused', async () => {
  const model = await load();
  expect(() => createTrainer(model, { learningRate: 1, lora: { ...lora, targets: ['c_attn'] } })).toThrow(
    "lora.targets has 'c_attn', but the linear layers are q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj",
  );
});

test('an embedding table that also gives the logits cannot be a target', async () => {
  const model = await loadModel(filesOf({ ...tinyLlama, tie_word_embeddings: true }), { engine });
  const targets = ['q_proj', 'embed_tokens'];
  expect(() => createTrainer(model, { learningRate: 1, lora: { ...lora, targets } })).toThrow(
    "lora.targets has 'embed_tokens', but the linear layers are q_proj, k_proj",
  );
});

const shared = sharedDir();
test.skipIf(!shared)(
  'files of an adapter have the keys, shapes and options of those that peft writes',
  async () => {
    const folder = join(shared ?? '', 'vectors/models/llama');
    const config = JSON.parse(readFileSync(join(folder, 'lora-end/adapter_config.json'), 'utf8'));
    const theirs = new Map<string, Tensor>();
    for await (const [name, tensor] of readSafetensors(
      readFileSync(join(folder, 'lora-end/adapter_model.safetensors')),
    )) {
      theirs.set(name, tensor);
    }
    const own = new Map([...theirs].map(([name, tensor]) => [name.replace('base_model.model.', ''), tensor]));
    const options = { rank: 4, alpha: 8, dropout: 0, targets: ['q_proj', 'v_proj'], rankStabilised: false };
    const files = adapterFiles(options, own, { transposed: false });
    const json = JSON.parse(new TextDecoder().decode(files['adapter_config.json']));
    for (const [name, value] of Object.entries(json)) {
      const wanted = name === 'target_modules' ? [...config[name]].sort() : config[name];
      expect(value, name).toEqual(wanted);
    }
    const ours = new Map<string, Tensor>();
    for await (const [name, tensor] of readSafetensors(files['adapter_model.safetensors']))
      ours.set(name, tensor);
    expect([...ours.keys()].sort()).toEqual([...theirs.keys()].sort());
    for (const [name, tensor] of theirs)
      expect(ours.get(name)).toMatchObject({ shape: tensor.shape, data: tensor.data });
  },
);

test('a snapshot does not change when training continues', async () => {
  const trainer = createTrainer(await load(), { learningRate: 0.05, lora, seed: 1 });
  await trainer.step(batch);
  const { tensors } = await trainer.snapshot();
  const before = new Map([...tensors].map(([name, tensor]) => [name, tensor.toFloat32()]));
  for (let n = 0; n < 2; n++) await trainer.step(batch);
  for (const [name, tensor] of tensors) expect(tensor.toFloat32()).toEqual(before.get(name));
  trainer.release();
});

test('a LoRA configuration without dropout and stabilisation has the defaults of peft', async () => {
  const model = await load();
  const short = { rank: 2, alpha: 4, targets: ['q_proj'] };
  createTrainer(model, { learningRate: 0.05, lora: { ...short, dropout: undefined } }).release();
  expect(model.adapter?.config).toEqual({ ...short, dropout: 0, rankStabilised: false });
  createTrainer(model, {
    learningRate: 0.05,
    lora: { ...short, dropout: 0, rankStabilised: false },
  }).release();
  expect(() => createTrainer(model, { learningRate: 0.05, lora: { ...short, dropout: 0.5 } })).toThrow(
    "lora.dropout is 0.5, but the model's adapter has 0",
  );
  const { 'adapter_config.json': file } = await saveAdapter(model);
  expect(JSON.parse(new TextDecoder().decode(file))).toMatchObject({ lora_dropout: 0, use_rslora: false });
  const given = adapterFiles(short, new Map(), { transposed: false })['adapter_config.json'];
  expect(readLoraConfig(JSON.parse(new TextDecoder().decode(given)))).toEqual(model.adapter?.config);
});

test('LoRA options that differ from the adapter of the model are refused, and a different scale compiles a different function', async () => {
  const model = await load();
  createTrainer(model, { learningRate: 0.05, lora, seed: 1 }).release();
  expect(() => createTrainer(model, { learningRate: 0.05, lora: { ...lora, rank: 3 } })).toThrow(
    "lora.rank is 3, but the model's adapter has 2",
  );
  // peft writes the targets, which are a set, in any order.
  const turned = { ...lora, targets: [...lora.targets].reverse() };
  const trainer = createTrainer(model, { learningRate: 0.5, lora: turned });
  await trainer.step(batch);
  const first = (await model.logits(batch.inputs)).toFloat32();
  if (model.adapter) model.adapter = { ...model.adapter, config: { ...lora, alpha: 40 } };
  expect((await model.logits(batch.inputs)).toFloat32()).not.toEqual(first);
});
