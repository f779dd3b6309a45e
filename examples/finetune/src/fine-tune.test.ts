import type { Tensor, TensorDesc } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { givenFiles, loadAdapter, loadModel } from '@tilewise/nn';
import { expect, test } from 'vitest';
import { tinyCheckpoint, tinyConfig, tinyText } from '../testing/tiny-checkpoint.ts';
import { fineTune } from './fine-tune.ts';
import { memoryOfLora } from './memory-of-lora.ts';

const engine = cpuEngine({ threads: 1 });
const text = tinyText;
const contents = tinyCheckpoint();

function files(names: readonly string[] = Object.keys(contents)) {
  return givenFiles(names.map(name => new File([contents[name]], name)));
}

test('an adapter makes the model continue the text, and can be loaded again', async () => {
  const losses: number[] = [];
  const { before, after, adapter, memory } = await fineTune({
    ...{ engine, files: files(), text, prompt: 'the cat sat', steps: 60, context: 22, learningRate: 0.03 },
    onStep: ({ loss }) => losses.push(loss),
  });
  expect(losses[59]).toBeLessThan(losses[0] / 2);
  expect(after).not.toBe(before);
  expect(after.startsWith('the cat sat on a mat')).toBe(true);
  const model = await loadModel(files(), { engine });
  const given = Object.entries(adapter).map(([name, bytes]) => new File([bytes], name));
  model.adapter = await loadAdapter(givenFiles(given), model.layers.linear, engine);
  const config = JSON.parse(new TextDecoder().decode(adapter['adapter_config.json']));
  expect(config).toMatchObject({
    peft_type: 'LORA',
    r: 8,
    lora_alpha: 16,
    target_modules: ['q_proj', 'v_proj'],
  });
  expect(memory.adapter).toBe(4 * 2 * (8 * (16 + 16) + 8 * (16 + 8)));
});

test('a folder without a tokenizer, and a run that is stopped, are refused', async () => {
  await expect(fineTune({ engine, files: files(['config.json']), text })).rejects.toThrow(
    'has no tokenizer.json',
  );
  const signal = AbortSignal.abort(new Error('stopped'));
  await expect(fineTune({ engine, files: files(), text, signal })).rejects.toThrow('stopped');
});

test('a run that is stopped releases its memory', async () => {
  const held = new Set<Tensor>();
  const add = (tensor: Tensor): Tensor => {
    held.add(tensor);
    return tensor;
  };
  const watched = {
    ...engine,
    upload: (tensor: Tensor) => add(engine.upload(tensor)),
    release(tensor: Tensor): void {
      held.delete(tensor);
      engine.release(tensor);
    },
    primitives: {
      ...engine.primitives,
      allocate: (desc: TensorDesc) => add(engine.primitives.allocate(desc)),
    },
  };
  const stop = new AbortController();
  const run = fineTune({
    ...{ engine: watched, files: files(), text, signal: stop.signal },
    onStep: () => stop.abort(new Error('stopped')),
  });
  await expect(run).rejects.toThrow('stopped');
  expect(held.size).toBe(0);
});

test('LoRA holds no gradients of the weights', async () => {
  const wide = {
    ...tinyConfig,
    vocab_size: 64,
    hidden_size: 128,
    intermediate_size: 384,
    num_hidden_layers: 6,
  };
  const { weights, parameters, training } = await memoryOfLora(engine, {
    ...{ config: wide, sequence: 8, recomputation: false },
  });
  expect(weights).toBe(2 * parameters);
  // Gradients alone would take 4 bytes per parameter, and AdamW's moments 8.
  expect(training).toBeLessThan(1.5 * parameters);
});

test('a step holds less memory if blocks are recomputed', async () => {
  const deep = { ...tinyConfig, hidden_size: 32, intermediate_size: 128, num_hidden_layers: 8 };
  const of = (recomputation: boolean) => memoryOfLora(engine, { config: deep, sequence: 96, recomputation });
  expect((await of(true)).training).toBeLessThan((2 / 3) * (await of(false)).training);
});
