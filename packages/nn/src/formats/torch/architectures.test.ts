import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { traceGraph } from '@tilewise/graph/ops';
import { toTorch } from '@tilewise/graph/torch';
import { sharedDir } from '@tilewise/test-data';
import { fullPython, runPython, torchrun, writeFiles } from '@tilewise/test-data/python';
import { expect, test } from 'vitest';
import { filesOf } from '../../../testing/tiny-model.ts';
import { readSafetensors } from '../../files/checkpoint/read-safetensors.ts';
import { folderFiles } from '../../files/sources/folder-files.ts';
import { loadModel } from '../../load-model.ts';
import { batchTensors } from '../../model/batch.ts';
import { downloadAll } from '../../model/download.ts';
import { logitsOf } from '../../model/logits.ts';
import { describeAll } from '../../model/model.ts';
import { weightScope } from '../../model/weights.ts';
import { createTrainer } from '../../training/trainer.ts';
import { exportTorch } from './export-torch.ts';

const sizes = {
  ...{ vocab_size: 19, hidden_size: 8, num_hidden_layers: 2, intermediate_size: 12 },
  ...{ max_position_embeddings: 32, num_attention_heads: 2, num_key_value_heads: 1 },
};
const { num_key_value_heads: _, ...bert } = sizes;
const gemma = { ...sizes, head_dim: 4, query_pre_attn_scalar: 4, sliding_window: 3 };
/** Configurations, and the folders of published models, if there are any. */
const configs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  gpt2: { model_type: 'gpt2', vocab_size: 19, n_embd: 8, n_layer: 2, n_head: 2, n_positions: 32 },
  llama: { ...sizes, model_type: 'llama' },
  mistral: { ...sizes, model_type: 'mistral', sliding_window: 3 },
  qwen2: { ...sizes, model_type: 'qwen2' },
  qwen3: { ...sizes, model_type: 'qwen3', head_dim: 4 },
  phi3: { ...sizes, model_type: 'phi3', pad_token_id: 0, sliding_window: null },
  gemma: { ...sizes, model_type: 'gemma', head_dim: 4 },
  gemma2: { ...gemma, model_type: 'gemma2', attn_logit_softcapping: 3, final_logit_softcapping: 4 },
  gemma3: { ...gemma, model_type: 'gemma3_text' },
  bert: { ...bert, model_type: 'bert', type_vocab_size: 2 },
  vit: {
    ...{ model_type: 'vit', hidden_size: 8, num_hidden_layers: 2, intermediate_size: 12 },
    ...{ num_attention_heads: 2, image_size: 8, patch_size: 4, num_labels: 5, num_channels: 3 },
  },
};
const shared = sharedDir();
const published = ['bert', 'gpt2', 'llama', 'mistral', 'qwen2', 'smollm2', 'vit'].filter(
  name => shared && existsSync(join(shared, 'vectors/models', name, 'config.json')),
);
const models = [
  ...Object.keys(configs).map(name => ({ name, files: () => filesOf(configs[name]) })),
  ...published.map(name => ({
    name: `published_${name}`,
    files: () => folderFiles(join(shared ?? '', 'vectors/models', name)),
  })),
];

async function run(folder: string, ranks: number, mesh: string, names: readonly string[]): Promise<void> {
  const script = fileURLToPath(new URL('../../../testing/exported_gradients.py', import.meta.url));
  await runPython([...torchrun(ranks), script, mesh, ...names], folder);
}

async function found(folder: string, name: string): Promise<Map<string, Tensor>> {
  const tensors = new Map<string, Tensor>();
  const file = readFileSync(join(folder, `${name}.found.safetensors`));
  for await (const [own, tensor] of readSafetensors(file)) tensors.set(own, tensor);
  return tensors;
}

/** The largest difference between tensors of the same names, relative to max(1, the largest number). */
function distance(a: ReadonlyMap<string, Tensor>, b: ReadonlyMap<string, Tensor>): number {
  return Math.max(
    ...[...b].map(([name, tensor]) => {
      const own = a.get(name)?.toFloat64() ?? [];
      const values = tensor.toFloat64();
      expect(own.length, name).toBe(values.length);
      const scale = Math.max(1, ...values.map(Math.abs));
      return Math.max(...values.map((x, n) => Math.abs(x - own[n]) / scale));
    }),
  );
}

/** Exports a model's training and logits; returns the results of its engine. */
async function exported(folder: string, { name, files }: (typeof models)[number]) {
  const engine = cpuEngine();
  const model = await loadModel(files(), { engine });
  const { definition } = model;
  const random = (n: number, below: number): number => ((n * 7919 + 13) % 101) % below;
  const image = definition.kind === 'image' ? definition : null;
  const pixelShape = [2, image?.channels ?? 1, image?.imageSize ?? 1, image?.imageSize ?? 1];
  const pixels = Float32Array.from(
    { length: pixelShape.reduce((n, m) => n * m) },
    (_, n) => random(n, 9) / 9,
  );
  const tokens = [0, 1].map(b => Array.from({ length: 8 }, (_, n) => random(8 * b + n, 19)));
  const inputs = image ? { pixels: Tensor.from(pixels, pixelShape) } : { tokens };
  const batch = { inputs, labels: image ? [1, 3] : tokens };
  const weights = await downloadAll(engine, model.weights);
  const training = await exportTorch(model, [batch], { name });
  writeFiles(folder, training);

  const specs = { ...describeAll(batchTensors(model.definition, inputs)), ...model.specs() };
  const traced = traceGraph(own => logitsOf(definition)(weightScope(own), own), specs);
  const [input] = Object.keys(batchTensors(model.definition, inputs));
  const { id } = traced.inputs[input];
  const parameters = Object.entries(traced.inputs).flatMap(([own, t]) =>
    weights.has(own) ? [[own, t.id]] : [],
  );
  const given = Object.values(batchTensors(model.definition, inputs))[0];
  const logits = toTorch(traced.graph, {
    ...{ name: `${name}_logits`, constants: traced.constants, weights },
    parameters: Object.fromEntries(parameters),
    batches: new Map([[id, given.reshape([1, ...given.shape])]]),
  });
  writeFiles(folder, logits);
  const trainer = createTrainer(model, { learningRate: 1e-3 });
  const { loss, gradients } = await trainer.gradients(batch);
  const expected = new Map<string, Tensor>([
    ['loss', Tensor.from([loss], [1])],
    ['logits', await model.logits(inputs)],
    ...(await downloadAll(engine, gradients)),
  ]);
  trainer.release();
  const lines = [training[`${name}/model.py`], logits[`${name}_logits/model.py`]].map(text => {
    return String(text).split('\n').length;
  });
  return { expected, lines };
}

test.skipIf(fullPython === undefined)(
  'every architecture has a module of at most 500 lines, with the same loss, gradients and logits',
  { timeout: 900_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tilewise-models-'));
    const wanted = new Map<string, ReadonlyMap<string, Tensor>>();
    for (const model of models) {
      const { expected, lines } = await exported(folder, model);
      for (const count of lines) expect(count, model.name).toBeLessThanOrEqual(500);
      wanted.set(model.name, expected);
    }
    await run(folder, 1, '1x1', [...wanted.keys()]);
    for (const [name, expected] of wanted)
      expect(distance(await found(folder, name), expected), name).toBeLessThanOrEqual(1e-4);
  },
);

test.skipIf(fullPython === undefined)(
  'losses and all gradients of a model agree on 1, 2 and 4 ranks',
  { timeout: 600_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tilewise-ranks-'));
    const model = models.find(({ name }) => name === 'published_llama') ?? models[1];
    const { expected } = await exported(folder, model);
    await run(folder, 1, '1x1', [model.name]);
    const alone = await found(folder, model.name);
    expect(distance(alone, expected)).toBeLessThanOrEqual(1e-4);
    alone.delete('logits');
    for (const [ranks, mesh] of [
      [2, '1x2'],
      [4, '1x4'],
      [4, '2x2'],
    ] as const) {
      await run(folder, ranks, mesh, [model.name]);
      expect(distance(await found(folder, model.name), alone), mesh).toBeLessThanOrEqual(1e-5);
    }
  },
);
