import { Tensor, type TensorDesc } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import type { TensorEngine } from '@tilewise/core/primitive';
import { compile } from '@tilewise/graph/ops';
import { createContext, webgpuEngine } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../../testing/tiny-model.ts';
import type { ModelDefinition } from '../architectures/architecture.ts';
import { readModel } from '../architectures/read-model.ts';
import { type AutocastDType, linear } from '../architectures/transformer/scope.ts';
import { createModel } from '../create-model.ts';
import { loadModel } from '../load-model.ts';
import { createTrainer } from '../training/trainer.ts';
import type { LoadOptions } from './model.ts';
import { weightScope } from './weights.ts';

const engine = cpuEngine();
const files = filesOf(tinyLlama);
const tokens = [
  [1, 2, 3, 4, 5],
  [6, 7, 8, 9, 10],
];
const batch = { inputs: { tokens }, labels: tokens };
const dtypes: readonly AutocastDType[] = ['f16', 'bf16'];
/**
 * The unit roundoff of each dtype. A logit of the tiny model moves by two to three of them, as much as if
 * only the weights were rounded; a gradient of the first layer, which passes all layers twice, by up to 18.
 */
const roundoff = { f16: 2 ** -11, bf16: 2 ** -8 };

/** The largest difference of some numbers from others, relative to the largest of the others. */
function distance(own: Float32Array, others: Float32Array): number {
  const differences = own.map((x, n) => Math.abs(x - others[n]));
  return Math.max(...differences) / Math.max(...others.map(Math.abs));
}

test.each(dtypes)('a linear layer multiplies operands in %s, and adds in f32', async dtype => {
  const values = (count: number, step: number) => Array.from({ length: count }, (_, n) => Math.sin(n * step));
  const x = Tensor.from(values(6, 0.7), [2, 3]);
  const given = {
    x,
    'l.weight': Tensor.from(values(12, 1.3), [4, 3]),
    'l.bias': Tensor.from(values(4, 0.3), [4]),
  };
  const layer = compile(
    engine,
    ({ x, ...weights }) => linear({ ...weightScope(weights), autocast: dtype }, x, 'l', 4, { bias: true }),
    { x: [2, 3], 'l.weight': [4, 3], 'l.bias': [4] },
  );
  const y = await layer(given);
  expect(y.dtype).toBe('f32');
  const [a, w] = [x, given['l.weight']].map(t => t.cast(dtype).toFloat32());
  const exact = Array.from({ length: 8 }, (_, n) =>
    [0, 1, 2].reduce((sum, k) => sum + a[3 * Math.floor(n / 4) + k] * w[3 * (n % 4) + k], 0),
  );
  const expected = exact.map((product, n) => product + given['l.bias'].toFloat32()[n % 4]);
  for (const [n, value] of y.toFloat32().entries()) expect(value).toBeCloseTo(expected[n], 6);
});

test.each([
  ['f16', 'bf16'],
  ['bf16', 'f16'],
] as const)('weights in %s are trained with operands in %s', async (dtype, autocast) => {
  const models = [{}, { autocast }].map(given => loadModel(files, { engine, dtype, ...given }));
  const [exact, cast] = await Promise.all(
    models.map(async model => createTrainer(await model, { learningRate: 0.01 }).step(batch)),
  );
  expect(Math.abs(cast.loss / exact.loss - 1)).toBeLessThan(roundoff[autocast] * 8);
  expect(Math.abs(cast.gradientNorm / exact.gradientNorm - 1)).toBeLessThan(roundoff[autocast] * 18);
});

test.each(dtypes)(
  'logits and gradients in %s differ from those in f32 by a few roundings',
  async autocast => {
    const [exact, cast] = [await loadModel(files, { engine }), await loadModel(files, { engine, autocast })];
    const [a, b] = [await exact.logits({ tokens }), await cast.logits({ tokens })];
    expect(b.dtype).toBe('f32');
    const difference = distance(b.toFloat32(), a.toFloat32());
    expect(difference).toBeGreaterThan(roundoff[autocast] / 8);
    expect(difference).toBeLessThan(roundoff[autocast] * 8);
    const gradients = await Promise.all(
      [exact, cast].map(
        async model => (await createTrainer(model, { learningRate: 0 }).gradients(batch)).gradients,
      ),
    );
    for (const [name, gradient] of gradients[0]) {
      const own = gradients[1].get(name) as Tensor;
      expect(own.dtype, name).toBe('f32');
      expect(distance(own.toFloat32(), gradient.toFloat32()), name).toBeLessThan(roundoff[autocast] * 24);
    }
  },
);

test('weights stored in f16 train with operands in f16 as in f32', async () => {
  const losses: number[][] = [];
  for (const options of [{}, { dtype: 'f16', autocast: 'f16' }] as const) {
    const model = await loadModel(files, { engine, ...options });
    const trainer = createTrainer(model, { learningRate: 0.02, lossScale: 256 });
    const own: number[] = [];
    for (let n = 0; n < 15; n++) own.push((await trainer.step(batch)).loss);
    losses.push(own);
    trainer.release();
    model.release();
  }
  expect(losses[1][14]).toBeLessThan(losses[1][0] / 2);
  for (const [n, loss] of losses[1].entries())
    expect(Math.abs(loss / losses[0][n] - 1), `step ${n}`).toBeLessThan(0.02);
});

test('the loss is scaled with f16, so that small gradients survive', async () => {
  const scaleOf = async (autocast?: AutocastDType) =>
    (await createTrainer(await loadModel(files, { engine, autocast }), { learningRate: 0.02 }).snapshot())
      .lossScale;
  expect(await scaleOf()).toBeUndefined();
  expect(await scaleOf('bf16')).toBeUndefined();
  expect(await scaleOf('f16')).toEqual({ value: 2 ** 16, steady: 0 });
});

test.each(dtypes)('a text is continued with a cache in %s as without a cache', async autocast => {
  const model = await loadModel(files, { engine, autocast });
  const text = [1, 2, 3];
  for await (const token of model.generate([1, 2, 3], { maxNewTokens: 6, temperature: 0 })) {
    const logits = (await model.logits({ tokens: [text] })).toFloat32().slice(-11);
    expect(token).toBe(logits.indexOf(Math.max(...logits)));
    text.push(token);
  }
  expect(text).toHaveLength(9);
});

test('an adapter trains, and the probabilities of attention sum to 1', async () => {
  const model = await loadModel(files, { engine, autocast: 'f16' });
  const lora = { rank: 2, alpha: 4, dropout: 0.1, targets: ['q_proj', 'v_proj'], rankStabilised: false };
  const trainer = createTrainer(model, { learningRate: 0.05, lora });
  const before = (await trainer.evaluate(batch)).loss;
  for (let n = 0; n < 10; n++) await trainer.step(batch);
  expect((await trainer.evaluate(batch)).loss).toBeLessThan(before);
  const [map] = await model.attentionProbabilities({ tokens: [[1, 2, 3]] });
  expect(map.dtype).toBe('f32');
  const rows = map.toFloat32();
  for (let row = 0; row < rows.length; row += 3)
    expect(rows[row] + rows[row + 1] + rows[row + 2]).toBeCloseTo(1, 2);
});

test('WebGPU gives the logits of the CPU', async () => {
  const { adapter } = await openGpu();
  const ctx = await createContext({ adapter });
  const logitsOn = async <T extends TensorDesc>(engine: TensorEngine<T>): Promise<Float32Array> =>
    (await (await loadModel(files, { engine, autocast: 'f16' })).logits({ tokens })).toFloat32();
  expect(distance(await logitsOn(webgpuEngine(ctx)), await logitsOn(engine))).toBeLessThan(roundoff.f16 * 2);
  ctx.destroy();
});

const sizes = { ...tinyLlama, head_dim: 4 };
const llama = readModel(tinyLlama) as Extract<ModelDefinition, { kind: 'causal' }>;
const { decoder } = llama;
const definitions: Readonly<Record<string, ModelDefinition>> = {
  'Llama with ALiBi and dropout': {
    ...llama,
    decoder: {
      ...decoder,
      rope: undefined,
      attention: layer => ({ ...decoder.attention(layer), alibi: true, dropout: 0.1 }),
    },
  },
  BERT: readModel({
    ...{ model_type: 'bert', vocab_size: 11, hidden_size: 8, num_hidden_layers: 2, intermediate_size: 12 },
    ...{ num_attention_heads: 2, max_position_embeddings: 32, type_vocab_size: 2 },
  }),
  'Gemma 2': readModel({ ...sizes, model_type: 'gemma2', query_pre_attn_scalar: 4, sliding_window: 4 }),
  'Gemma 3': readModel({ ...sizes, model_type: 'gemma3_text' }),
  'Qwen 3': readModel({ ...sizes, model_type: 'qwen3' }),
  'Phi 3': readModel({ ...tinyLlama, model_type: 'phi3' }),
};

test.each(Object.keys(definitions))('%s trains in f16 as in f32, with recomputation too', async name => {
  const losses = async (options: Partial<LoadOptions<Tensor>>, recomputation: boolean): Promise<number[]> => {
    const model = createModel(definitions[name], { engine, deviation: 0.3, ...options });
    const trainer = createTrainer(model, { learningRate: 0.01, lossScale: 64, recomputation });
    const own: number[] = [];
    for (let n = 0; n < 3; n++) own.push((await trainer.step(batch)).loss);
    trainer.release();
    model.release();
    return own;
  };
  const [exact, half] = [await losses({}, false), await losses({ autocast: 'f16' }, false)];
  expect(half).not.toEqual(exact);
  // AdamW's first steps are as long for a small gradient as for a large one, so roundings grow with the
  // steps.
  for (const [n, loss] of half.entries()) expect(Math.abs(loss - exact[n]), `step ${n}`).toBeLessThan(0.01);
  expect(await losses({ autocast: 'f16' }, true)).toEqual(half);
});

test('another dtype is refused', async () => {
  const autocast = 'f8' as AutocastDType;
  await expect(loadModel(files, { engine, autocast })).rejects.toThrow(
    'autocast must be one of f16, bf16, got "f8"',
  );
});
