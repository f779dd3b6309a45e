import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../testing/tiny-model.ts';
import { encodeSafetensors, readSafetensors } from '../files/checkpoint/index.ts';
import { loadModel } from '../load-model.ts';
import { createTrainer } from '../training/trainer.ts';
import { loadAdapter } from './peft-files.ts';
import { saveAdapter } from './save-adapter.ts';

const lora = { rank: 2, alpha: 4, dropout: 0, targets: ['q_proj'], rankStabilised: false };

/** A model with an adapter, and the adapter's files. */
async function saved(targets = lora.targets) {
  const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
  createTrainer(model, { learningRate: 0.01, lora: { ...lora, targets } }).release();
  return { model, files: await saveAdapter(model) };
}

const given = (files: Readonly<Record<string, Uint8Array>>) => ({
  name: 'mine',
  open: async (file: string) => Object.entries(files).find(([name]) => name === file)?.[1] ?? null,
});

const bert = {
  model_type: 'bert',
  ...{ vocab_size: 11, hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 2, intermediate_size: 12 },
};

test.each([
  { config: tinyLlama, targets: ['q_proj'], task: 'CAUSAL_LM' },
  // With this task, peft would call a method for generation that an encoder does not have.
  { config: bert, targets: ['query'], task: null },
])('an adapter of $config.model_type has the peft task $task', async ({ config, targets, task }) => {
  const model = await loadModel(filesOf(config), { engine: cpuEngine() });
  createTrainer(model, { learningRate: 0.01, lora: { ...lora, targets } }).release();
  const { 'adapter_config.json': file } = await saveAdapter(model);
  expect(JSON.parse(new TextDecoder().decode(file)).task_type).toBe(task);
});

test('a loaded adapter has its matrices in the order of a new one', async () => {
  const { model, files } = await saved(['q_proj', 'k_proj']);
  const { tensors } = await loadAdapter(given(files), model.layers.linear, model.engine);
  expect(Object.keys(tensors)).toEqual(Object.keys(model.adapter?.tensors ?? {}));
});

test('an adapter of integers is refused', async () => {
  const { model, files } = await saved();
  const integers = new Map<string, Tensor>();
  for await (const [name, tensor] of readSafetensors(files['adapter_model.safetensors']))
    integers.set(name, tensor.cast('i32'));
  const wrong = given({ ...files, 'adapter_model.safetensors': encodeSafetensors(integers) });
  await expect(loadAdapter(wrong, model.layers.linear, model.engine)).rejects.toThrow(
    /lora_[AB].weight' must be f32, f16 or bf16, got i32/,
  );
});

test('an adapter with a negative factor is loaded again', async () => {
  const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
  createTrainer(model, { learningRate: 0.01, lora: { ...lora, alpha: -4 } }).release();
  const { config } = await loadAdapter(given(await saveAdapter(model)), model.layers.linear, model.engine);
  expect(config.alpha).toBe(-4);
});

test('an adapter whose file has a matrix under two names is refused', async () => {
  const { model, files } = await saved();
  const matrices = new Map<string, Tensor>();
  for await (const [name, tensor] of readSafetensors(files['adapter_model.safetensors'])) {
    matrices.set(name, tensor);
    matrices.set(name.replace('base_model.model.', ''), tensor);
  }
  const wrong = given({ ...files, 'adapter_model.safetensors': encodeSafetensors(matrices) });
  await expect(loadAdapter(wrong, model.layers.linear, model.engine)).rejects.toThrow(
    /lora_[AB].weight' duplicates the weight 'model.layers.0.self_attn.q_proj.lora_[AB].weight'/,
  );
});

test('an adapter for layers of another size is refused', async () => {
  const { model, files } = await saved();
  const layers = [...model.layers.linear].map(
    ([name, { inputs, ...rest }]) => [name, { ...rest, inputs: inputs + 1 }] as const,
  );
  await expect(loadAdapter(given(files), new Map(layers), model.engine)).rejects.toThrow(
    /q_proj\.lora_A\.weight' must have shape \[2,\d+\], got \[2,\d+\]/,
  );
});

test('a list of targets for many architectures is accepted, as in peft', async () => {
  const { model, files } = await saved();
  const config = JSON.parse(new TextDecoder().decode(files['adapter_config.json']));
  const json = JSON.stringify({ ...config, target_modules: ['q_proj', 'query_key_value'] });
  const longer = given({ ...files, 'adapter_config.json': new TextEncoder().encode(json) });
  const adapter = await loadAdapter(longer, model.layers.linear, model.engine);
  expect(Object.keys(adapter.tensors)).toEqual(Object.keys(model.adapter?.tensors ?? {}));
});

test('a model without an adapter is refused', async () => {
  const model = await loadModel(filesOf(tinyLlama), { engine: cpuEngine() });
  await expect(saveAdapter(model)).rejects.toThrow('model has no adapter');
});
