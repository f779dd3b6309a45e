import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../testing/tiny-model.ts';
import { loadModel } from '../load-model.ts';
import { createTrainer } from '../training/trainer.ts';
import { saveAdapter } from './save-adapter.ts';

const bert = {
  model_type: 'bert',
  ...{ vocab_size: 11, hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 2, intermediate_size: 12 },
};

test.each([
  { config: tinyLlama, targets: ['q_proj'], task: 'CAUSAL_LM' },
  // With this task, peft would call a method for generation that an encoder does not have.
  { config: bert, targets: ['query'], task: null },
])('an adapter of $config.model_type has the task $task for peft', async ({ config, targets, task }) => {
  const model = await loadModel(filesOf(config), { engine: cpuEngine() });
  const lora = { rank: 2, alpha: 4, dropout: 0, targets, rankStabilised: false };
  createTrainer(model, { learningRate: 0.01, lora }).release();
  const { 'adapter_config.json': file } = await saveAdapter(model);
  expect(JSON.parse(new TextDecoder().decode(file)).task_type).toBe(task);
});
