import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { createContext, webgpuEngine } from '@tilewise/webgpu';
import { countingDevice } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../testing/tiny-model.ts';
import { readModel } from '../architectures/read-model.ts';
import { createModel } from '../create-model.ts';
import type { ModelFiles } from '../files/sources/model-files.ts';
import { loadModel } from '../load-model.ts';
import type { Model } from '../model/model.ts';
import { type GenerateOptions, generate, generateBatch } from './generate.ts';
import { chooseToken } from './sampling.ts';

const window = { ...tinyLlama, model_type: 'mistral', sliding_window: 3 };
const load = (config = tinyLlama) => loadModel(filesOf(config), { engine: cpuEngine() });

async function textOf(
  model: Model<Tensor>,
  prompt: ArrayLike<number>,
  options: GenerateOptions,
): Promise<number[]> {
  const text: number[] = [];
  for await (const token of generate(model, prompt, options)) text.push(token);
  return text;
}

/** The most likely tokens by the logits of the whole text, without a cache. */
async function greedy(model: Model<Tensor>, prompt: readonly number[], count: number): Promise<number[]> {
  const text = [...prompt];
  for (let n = 0; n < count; n++) {
    const logits = (await model.logits({ tokens: [text] })).toFloat32().slice(-11);
    text.push(logits.indexOf(Math.max(...logits)));
  }
  return text.slice(prompt.length);
}

const rope = (parameters: object) => ({ ...tinyLlama, max_position_embeddings: 8, rope_scaling: parameters });
const dynamic = rope({ rope_type: 'dynamic', factor: 4 });
const factors = { short_factor: [1, 2], long_factor: [3, 9] };
const longrope = { ...rope({ rope_type: 'longrope', ...factors }), original_max_position_embeddings: 6 };

test.each([
  ['all keys', tinyLlama],
  ['a window', window],
  ['angles that change with the length', dynamic],
  ['angles that change at a length', longrope],
])('the text is the same with and without a cache: %s', async (_, config) => {
  const model = await load(config);
  expect(await textOf(model, [1, 2, 3], { maxNewTokens: 9 })).toEqual(await greedy(model, [1, 2, 3], 9));
  model.release();
});

test('in any batch, the text is the same', async () => {
  const model = await load();
  const prompts = [[1, 2, 3], [4], [5, 6, 7, 8, 9]];
  for (const options of [{}, { temperature: 0.9, topP: 0.95, seed: 3 }]) {
    const texts: number[][] = prompts.map(() => []);
    for await (const tokens of generateBatch(model, prompts, { maxNewTokens: 7, ...options })) {
      for (const [row, token] of tokens.entries()) if (token !== null) texts[row].push(token);
    }
    expect(texts[0]).toEqual(await textOf(model, prompts[0], { maxNewTokens: 7, ...options }));
    if (!('seed' in options)) {
      for (const [row, prompt] of prompts.entries())
        expect(texts[row]).toEqual(await greedy(model, prompt, 7));
    }
  }
});

test('a text does not depend on the maximum number of tokens', async () => {
  const model = await load(dynamic);
  const long = await textOf(model, [1, 2, 3], { maxNewTokens: 20 });
  expect(await textOf(model, [1, 2, 3], { maxNewTokens: 8 })).toEqual(long.slice(0, 8));
});

test('a prompt that is read in several parts gives the same text', async () => {
  const model = await load({ ...tinyLlama, max_position_embeddings: 512 });
  const prompt = Array.from({ length: 300 }, (_, n) => (n * n) % 11);
  const texts: number[][] = [[], []];
  const prompts = [prompt, [4, 5]];
  for await (const tokens of generateBatch(model, prompts, { maxNewTokens: 4 }))
    for (const [row, token] of tokens.entries()) if (token !== null) texts[row].push(token);
  expect(texts).toEqual([await greedy(model, prompt, 4), await greedy(model, [4, 5], 4)]);
});

test('on a device a token is one submission, and makes no buffer', async () => {
  const { device, counts } = await countingDevice();
  const ctx = await createContext({ device });
  const model = await loadModel(filesOf(tinyLlama), { engine: webgpuEngine(ctx) });
  const tokens = generate(model, [1, 2, 3], { maxNewTokens: 8 });
  for (let n = 0; n < 4; n++) await tokens.next();
  const before = { ...counts };
  for (let n = 0; n < 3; n++) await tokens.next();
  // The submission of a token ends with the copy of its logits, which the host maps.
  expect(counts).toEqual({ ...before, submissions: before.submissions + 3, maps: before.maps + 3 });
  await tokens.return();
  model.release();
  ctx.destroy();
});

test('a text may fill all positions, and one token more, which the model does not read', async () => {
  const config = { model_type: 'gpt2', vocab_size: 11, n_embd: 8, n_head: 2, n_layer: 1, n_positions: 6 };
  const model = createModel(readModel(config), { engine: cpuEngine(), deviation: 0.5 });
  const whole = await greedy(model, [1, 2, 3], 4);
  expect(await textOf(model, [1, 2, 3], { maxNewTokens: 4 })).toEqual(whole);
  const full = [1, 2, 3, ...whole.slice(0, 3)];
  expect(await textOf(model, full, { maxNewTokens: 1 })).toEqual(whole.slice(3));
  await expect(textOf(model, [1, 2, 3], { maxNewTokens: 5 })).rejects.toThrow(
    'maxNewTokens needs 7 positions, but the model has 6',
  );
  model.release();
});

test('a stop token ends only its own text', async () => {
  const model = await load();
  const [first] = await greedy(model, [1, 2, 3], 1);
  expect(await textOf(model, [1, 2, 3], { maxNewTokens: 5, stopTokens: [first] })).toEqual([first]);
});

test('a prompt may be a typed array', async () => {
  const model = await load();
  expect(await textOf(model, Uint32Array.of(1, 2, 3), { maxNewTokens: 4 })).toEqual(
    await textOf(model, [1, 2, 3], { maxNewTokens: 4 }),
  );
});

test('a signal ends it with its reason', async () => {
  const model = await load();
  const stop = new AbortController();
  const tokens = generate(model, [1], { maxNewTokens: 5, signal: stop.signal });
  await tokens.next();
  stop.abort(new Error('enough'));
  await expect(tokens.next()).rejects.toThrow('enough');
});

test.each<readonly [string, readonly number[], Partial<GenerateOptions>, string]>([
  ['an empty prompt', [], {}, 'prompts must be non-empty lists of tokens'],
  ['an unknown token', [11], {}, 'tokens must be integers from 0 to 10, got 11'],
  ['a temperature below 0', [1], { temperature: -1 }, 'temperature must be a number ≥ 0, got -1'],
  ['a fraction above 1', [1], { topP: 1.5 }, 'topP must be in (0, 1]'],
])('%s is refused', async (_, prompt, options, message) => {
  await expect(textOf(await load(), prompt, { maxNewTokens: 1, ...options })).rejects.toThrow(message);
});

test('sampling takes only tokens that the options admit', () => {
  const logits = Float32Array.from([1, 3, 2, -1, 2.9]);
  const chosen = (options: object) =>
    new Set(
      Array.from({ length: 200 }, (_, step) =>
        chooseToken(logits, [1], { temperature: 1, seed: 5, ...options }, { row: 0, step }),
      ),
    );
  expect(chosen({ topK: 2 })).toEqual(new Set([1, 4]));
  expect(chosen({ topP: 0.5 })).toEqual(new Set([1, 4]));
  expect(chosen({ minP: 0.3 })).toEqual(new Set([1, 2, 4]));
  expect(chosen({})).toContain(0);
  expect(chosen({ temperature: 0 })).toEqual(new Set([1]));
  expect(chosen({ temperature: 0, repetitionPenalty: 1.5 })).toEqual(new Set([4]));
});

test('generation_config.json gives the defaults, and options take precedence', async () => {
  const { open, name } = filesOf(tinyLlama);
  const withConfig = (config: object): ModelFiles => ({
    name,
    open: async file => (file === 'generation_config.json' ? new Blob([JSON.stringify(config)]) : open(file)),
  });
  const defaultsOf = async (config: object) =>
    (await loadModel(withConfig(config), { engine: cpuEngine() })).generationDefaults;
  expect(await defaultsOf({ do_sample: false, temperature: 0.6, eos_token_id: 2 })).toEqual({
    stopTokens: [2],
  });
  expect(
    await defaultsOf({
      do_sample: true,
      temperature: 0.6,
      top_p: 0.9,
      eos_token_id: [2, 3],
      max_new_tokens: 7,
    }),
  ).toEqual({
    ...{ temperature: 0.6, topK: 50, topP: 0.9, minP: 0, stopTokens: [2, 3], maxNewTokens: 7 },
  });
  const ending = await loadModel(filesOf({ ...tinyLlama, eos_token_id: [4, 5] }), { engine: cpuEngine() });
  expect(ending.generationDefaults).toEqual({ stopTokens: [4, 5] });
  await expect(defaultsOf({ do_sample: 'yes' })).rejects.toThrow(
    'generation_config.json: do_sample must be true or false',
  );
  await expect(
    loadModel(filesOf({ ...tinyLlama, eos_token_id: 'x' }), { engine: cpuEngine() }),
  ).rejects.toThrow(/^config.json: eos_token_id must be a token/);
  // As in transformers, −1 stands for no token, and the text does not end there.
  expect(await defaultsOf({ eos_token_id: -1 })).toEqual({});
  expect(await defaultsOf({ eos_token_id: [2, -1] })).toEqual({ stopTokens: [2] });
  for (const [field, value, rule] of [
    ['temperature', -1, 'a number ≥ 0'],
    ['top_p', 1.5, 'in (0, 1]'],
    ['min_p', 2, 'in [0, 1]'],
  ] as const)
    await expect(defaultsOf({ do_sample: true, [field]: value })).rejects.toThrow(
      `generation_config.json: ${field} must be ${rule}, got ${value}`,
    );
  const model = await loadModel(withConfig({ max_new_tokens: 3 }), { engine: cpuEngine() });
  const count = async (options?: object): Promise<number> => {
    let tokens = 0;
    for await (const token of model.generate([1], options)) tokens += token >= 0 ? 1 : 0;
    return tokens;
  };
  expect([await count(), await count({ maxNewTokens: 2 })]).toEqual([3, 2]);
  expect(await count({ maxNewTokens: undefined })).toBe(3);
});
