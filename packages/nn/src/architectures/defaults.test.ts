import { expect, test } from 'vitest';
import { layersOf } from '../model/weights.ts';
import { readModel } from './read-model.ts';

// Files may leave out what equals the defaults of transformers: GPT2Config(), MistralConfig() and so on.

const sizes = {
  ...{ vocab_size: 16, hidden_size: 512, num_hidden_layers: 30, intermediate_size: 12 },
  num_attention_heads: 32,
};
const decoderOf = (config: Record<string, unknown>) => {
  const model = readModel(config);
  if (model.kind !== 'causal') throw new Error('no decoder');
  return model.decoder;
};

test('GPT-2 has the sizes of its smallest model if a file does not give them', () => {
  const decoder = decoderOf({ model_type: 'gpt2' });
  expect(decoder).toMatchObject({
    ...{ dim: 768, vocabulary: 50_257, layers: 12, positions: { count: 1024 }, head: null },
    norm: { kind: 'layer', epsilon: 1e-5 },
    feedForward: { hidden: 3072, activation: 'gelu_new' },
  });
  expect(decoder.attention(11)).toMatchObject({ heads: 12, headDim: 64, scale: 1 / 8 });
});

test('scores of GPT-2 may be divided by the number of the layer, or not scaled', () => {
  const scaleOf = (options: object) => decoderOf({ model_type: 'gpt2', ...options }).attention(3).scale;
  expect(scaleOf({ scale_attn_by_inverse_layer_idx: true })).toBe(1 / 8 / 4);
  expect(scaleOf({ scale_attn_weights: false })).toBe(1);
});

test.each<readonly [string, Readonly<Record<string, readonly number[]>>]>([
  [
    'bert',
    {
      'bert.embeddings.word_embeddings.weight': [30_522, 768],
      'bert.embeddings.position_embeddings.weight': [512, 768],
      'bert.embeddings.token_type_embeddings.weight': [2, 768],
      'bert.encoder.layer.11.intermediate.dense.weight': [3072, 768],
    },
  ],
  [
    'vit',
    {
      'vit.embeddings.patch_embeddings.projection.weight': [768, 3, 16, 16],
      'vit.embeddings.position_embeddings': [1, 197, 768],
      'vit.encoder.layer.11.attention.attention.query.bias': [768],
      'classifier.weight': [2, 768],
    },
  ],
])('%s has twelve layers and the sizes of its base model if a file does not give them', (name, shapes) => {
  const { weights } = layersOf(readModel({ model_type: name }));
  expect(Object.fromEntries(Object.keys(shapes).map(weight => [weight, weights.get(weight)]))).toEqual(
    shapes,
  );
  expect([...weights.keys()].some(weight => weight.includes('.layer.12.'))).toBe(false);
});

test.each([
  ['llama', { kvHeads: 32, headDim: 16 }, { epsilon: 1e-6 }],
  ['mistral', { kvHeads: 8, headDim: 16, window: 4096 }, { epsilon: 1e-6 }],
  ['qwen2', { kvHeads: 32, headDim: 16, window: undefined }, { epsilon: 1e-6 }],
  ['qwen3', { kvHeads: 32, headDim: 128, window: undefined }, { epsilon: 1e-6 }],
  ['phi3', { kvHeads: 32, headDim: 16, window: undefined }, { epsilon: 1e-5 }],
  ['gemma', { kvHeads: 16, headDim: 256 }, { epsilon: 1e-6, offset: 1 }],
  ['gemma2', { kvHeads: 4, headDim: 256, scale: 1 / 16, softcap: 50, window: 4096 }, { epsilon: 1e-6 }],
  ['gemma3_text', { kvHeads: 4, headDim: 256, scale: 1 / 16, window: 4096 }, { epsilon: 1e-6 }],
])('%s has attention with %j and norms with %j if a file does not give them', (name, attention, norm) => {
  const decoder = decoderOf({ ...sizes, model_type: name });
  expect(decoder.attention(0)).toMatchObject(attention);
  expect(decoder.norm).toMatchObject({ kind: 'rms', ...norm });
  expect(decoder.head).toBe(name.startsWith('gemma') ? null : 'lm_head');
});

test('windows are in the layers that transformers chooses if a file does not give them', () => {
  const windowed = (config: Record<string, unknown>) => {
    const { attention, layers } = decoderOf({ ...sizes, ...config });
    return Array.from({ length: layers }, (_, n) => n).filter(n => attention(n).window !== undefined);
  };
  expect(windowed({ model_type: 'qwen2', use_sliding_window: true })).toEqual([28, 29]);
  expect(windowed({ model_type: 'gemma2', num_hidden_layers: 4 })).toEqual([0, 2]);
  expect(windowed({ model_type: 'gemma3_text', num_hidden_layers: 7 })).toEqual([0, 1, 2, 3, 4, 6]);
});

test('the padding token is the one that transformers chooses if a file does not give one', () => {
  const paddingOf = (name: string, option = {}): number | undefined =>
    decoderOf({ ...sizes, model_type: name, ...option }).embedding.padding;
  expect(['llama', 'qwen2', 'phi3', 'gemma', 'gemma2', 'gemma3_text'].map(name => paddingOf(name))).toEqual([
    ...[undefined, undefined, 32_000],
    ...[0, 0, 0],
  ]);
  expect(paddingOf('gemma', { pad_token_id: null })).toBe(undefined);
  expect(paddingOf('llama', { pad_token_id: 2 })).toBe(2);
});
