import { expect, test } from 'vitest';
import { tinyLlama } from '../../testing/tiny-model.ts';
import { ConfigError } from '../files/config/config-error.ts';
import { layersOf } from '../model/weights.ts';
import { readModel } from './read-model.ts';

const sizes = {
  ...{
    vocab_size: 16,
    hidden_size: 8,
    num_hidden_layers: 2,
    intermediate_size: 12,
    max_position_embeddings: 32,
  },
  ...{ num_attention_heads: 2, num_key_value_heads: 1, head_dim: 4 },
};
const weightsOf = (config: Record<string, unknown>) => layersOf(readModel(config)).weights;
const decoderOf = (config: Record<string, unknown>) => {
  const model = readModel(config);
  if (model.kind !== 'causal') throw new Error('no decoder');
  return model.decoder;
};

test.each<readonly [string, Record<string, unknown>, string]>([
  ['no architecture', {}, 'model_type is missing'],
  ['one that is not known', { model_type: 'mamba' }, 'model_type must be one of gpt2, llama'],
  ['an option that is not known', { ...tinyLlama, clip_qkv: 8 }, 'clip_qkv is an unknown option'],
  [
    'an activation that is not known',
    { ...tinyLlama, hidden_act: 'xielu' },
    'hidden_act must be one of gelu',
  ],
  [
    'heads of k and v that do not divide those of q',
    { ...tinyLlama, num_key_value_heads: 3 },
    'num_key_value_heads must divide num_attention_heads 2, got 3',
  ],
  [
    'heads that do not divide the width of GPT-2',
    { model_type: 'gpt2', n_embd: 10, n_head: 3 },
    'n_head must divide n_embd 10, got 3',
  ],
  [
    'heads that do not divide the width of BERT',
    { model_type: 'bert', hidden_size: 10, num_attention_heads: 3 },
    'num_attention_heads must divide hidden_size 10, got 3',
  ],
  [
    'more layers than can be listed',
    { ...tinyLlama, num_hidden_layers: 1e9 },
    'num_hidden_layers must be an integer from 1 to 4096, got 1000000000',
  ],
  [
    'a head larger than any',
    { ...tinyLlama, hidden_size: 2e9 },
    'head_dim must be an integer from 1 to 4096, got 1000000000',
  ],
  ['a head without pairs to rotate', { ...tinyLlama, head_dim: 3 }, 'head_dim must be even, got 3'],
  ['a size that is none', { ...tinyLlama, hidden_size: '8' }, 'hidden_size must be an integer ≥ 1, got "8"'],
  [
    'a decoder of BERT',
    { model_type: 'bert', is_decoder: true },
    'is_decoder is true, and only false is supported',
  ],
  [
    'layers of a kind that is not known',
    { ...sizes, model_type: 'qwen3', layer_types: ['linear_attention', 'full_attention'] },
    "layer_types has 'linear_attention'",
  ],
  ...['qwen2', 'qwen3'].map(
    name =>
      [
        `a window of ${name} that is not used`,
        {
          ...sizes,
          model_type: name,
          sliding_window: 5,
          layer_types: ['sliding_attention', 'full_attention'],
        },
        "sliding_window is null or unused, but a layer has 'sliding_attention'",
      ] as const,
  ),
  [
    'a window of Gemma that is null',
    { ...sizes, model_type: 'gemma2', sliding_window: null },
    "sliding_window is null or unused, but a layer has 'sliding_attention'",
  ],
  [
    'a part of a head beyond its end',
    { ...sizes, model_type: 'phi3', partial_rotary_factor: 1.5 },
    'partial_rotary_factor must be at most 1, got 1.5',
  ],
  ...[0.5, 1.5].map(
    factor =>
      [
        `a part of a head of Llama, ${factor}`,
        { ...tinyLlama, rope_parameters: { partial_rotary_factor: factor } },
        `rope_parameters.partial_rotary_factor is ${factor}, and only 1 is supported`,
      ] as const,
  ),
  [
    'positions of Gemma 3 that are the same in all layers',
    { ...sizes, model_type: 'gemma3_text', rope_parameters: { rope_type: 'linear', factor: 8 } },
    'rope_parameters.rope_type is an unknown option',
  ],
  [
    'YaRN of Gemma 3 without truncation',
    {
      ...{ ...sizes, model_type: 'gemma3_text' },
      rope_parameters: { full_attention: { rope_type: 'yarn', factor: 4, truncate: false } },
    },
    'rope_parameters.full_attention.truncate is false, and only true is supported',
  ],
  [
    'heads that were pruned',
    { model_type: 'bert', pruned_heads: { 0: [1] } },
    'pruned_heads is an unknown option',
  ],
])('%s is refused by name', (_, config, message) => {
  expect(() => readModel(config)).toThrow(ConfigError);
  expect(() => readModel(config)).toThrow(message);
});

test('options that do not affect the computation are ignored', () => {
  const options = {
    ...{ torch_dtype: 'bfloat16', dtype: 'float32', bos_token_id: 1, use_cache: true, unsloth_version: '1' },
    ...{ initializer_range: 0.02, length_penalty: 1, suppress_tokens: [1], begin_suppress_tokens: [1] },
    ...{ num_beams: 1, num_beam_groups: 1, use_return_dict: true, return_dict_in_generate: false },
  };
  expect(() => readModel({ ...tinyLlama, ...options })).not.toThrow();
});

test('names in files are brought to one form, and unused weights are skipped', () => {
  const names = (config: Record<string, unknown>, ...given: string[]) =>
    given.map(readModel(config).canonical);
  expect(
    names(
      { model_type: 'gpt2' },
      'h.0.ln_1.bias',
      'transformer.h.0.ln_1.bias',
      'h.3.attn.bias',
      'lm_head.weight',
    ),
  ).toEqual(['transformer.h.0.ln_1.bias', 'transformer.h.0.ln_1.bias', null, null]);
  expect(
    names(
      { model_type: 'bert' },
      'bert.embeddings.LayerNorm.gamma',
      'embeddings.LayerNorm.beta',
      'bert.pooler.dense.weight',
    ),
  ).toEqual(['bert.embeddings.LayerNorm.weight', 'bert.embeddings.LayerNorm.bias', null]);
  expect(
    names(
      tinyLlama,
      'layers.0.mlp.up_proj.weight',
      'model.layers.0.self_attn.rotary_emb.inv_freq',
      'lm_head.weight',
    ),
  ).toEqual(['model.layers.0.mlp.up_proj.weight', null, 'lm_head.weight']);
});

test('Qwen3 normalises the heads of q and k, and has no biases', () => {
  const weights = weightsOf({ ...sizes, model_type: 'qwen3' });
  expect(weights.get('model.layers.1.self_attn.q_norm.weight')).toEqual([4]);
  expect([...weights.keys()].filter(name => name.endsWith('.bias'))).toEqual([]);
});

test('Qwen2 has biases only for q, k and v, and its window starts at a given layer', () => {
  const config = {
    ...sizes,
    model_type: 'qwen2',
    head_dim: undefined,
    sliding_window: 5,
    max_window_layers: 1,
  };
  const biases = [...weightsOf(config).keys()].filter(name => name.endsWith('.bias') && name.includes('.0.'));
  expect(biases.map(name => name.split('.').at(-2))).toEqual(['q_proj', 'k_proj', 'v_proj']);
  const windows = (given: object) =>
    [0, 1].map(layer => decoderOf({ ...config, ...given }).attention(layer).window);
  expect(windows({})).toEqual([undefined, undefined]);
  expect(windows({ use_sliding_window: true })).toEqual([undefined, 5]);
  const types = { use_sliding_window: true, layer_types: ['sliding_attention', 'full_attention'] };
  expect(windows(types)).toEqual([5, undefined]);
});

test.each([
  ['llama', 2048],
  ['mistral', 131_072],
  ['qwen2', 32_768],
  ['qwen3', 32_768],
  ['phi3', 4096],
  ['gemma', 8192],
  ['gemma2', 8192],
])('%s has %i positions if a file does not give them', (name, count) => {
  const { max_position_embeddings: _, ...others } = sizes;
  const scaling = { rope_type: 'dynamic', factor: 2 };
  const rope = decoderOf({ ...others, model_type: name, rope_scaling: scaling }).rope?.(0);
  const [, frequency] = rope?.at(1).frequencies ?? [];
  expect(rope?.at(count).frequencies[1]).toBe(frequency);
  expect(rope?.at(count + 1).frequencies[1]).toBeLessThan(frequency);
});

test('the length that Phi-3 was trained on is outside the parameters, or 4096', () => {
  const inside = { original_max_position_embeddings: 16, short_factor: [1, 1], long_factor: [2, 2] };
  const changesAt = (given: object): number | undefined => {
    const config = { ...sizes, ...given, model_type: 'phi3', rope_scaling: { ...inside, type: 'longrope' } };
    const rope = decoderOf(config).rope?.(0);
    return [16, 24, 4096].find(length => rope?.at(length).frequencies !== rope?.at(length + 1).frequencies);
  };
  expect(changesAt({})).toBe(4096);
  expect(changesAt({ original_max_position_embeddings: 24 })).toBe(24);
});

test('Mistral has a window of 4096 if a file does not give one, and none if it gives null', () => {
  const window = (given: object) =>
    decoderOf({ ...sizes, model_type: 'mistral', ...given }).attention(0).window;
  expect(window({})).toBe(4096);
  expect(window({ sliding_window: null })).toBeUndefined();
});

test.each<readonly [string, Record<string, unknown>]>([
  ['SmolLM2', { rope_interleaved: false, is_llama_config: true, 'transformers.js_config': {} }],
  ['Qwen 2.5', { model_type: 'qwen2', use_mrope: false, use_sliding_window: false, sliding_window: 8 }],
  ['Phi-4-mini', { model_type: 'phi3', full_attn_mod: 1, interpolate_factor: 1, lm_head_bias: false }],
  ['Gemma 2 9B', { model_type: 'gemma2', sliding_window: 8, sliding_window_size: 8 }],
  ['LLaMA', { max_sequence_length: 2048 }],
  ['Qwen 2.5, saved again', { model_type: 'qwen2', _attn_implementation_autoset: true }],
  ['BERT, saved by transformers 2', { model_type: 'bert', eos_token_ids: 0, output_past: true }],
  ['BERT, saved with no heads pruned', { model_type: 'bert', pruned_heads: {} }],
  ['DistilGPT-2', { model_type: 'gpt2', _num_labels: 1, n_special: 0, predict_special_tokens: true }],
])('the other fields of published files of %s are accepted', (_, given) => {
  const hasDefaults = given.model_type === 'gpt2' || given.model_type === 'bert';
  expect(() => readModel(hasDefaults ? given : { ...tinyLlama, ...given })).not.toThrow();
});

test('Phi-3 has one layer for q, k and v, and one for gate and up', () => {
  const weights = weightsOf({
    ...sizes,
    model_type: 'phi3',
    sliding_window: 7,
    original_max_position_embeddings: 32,
  });
  expect(weights.get('model.layers.0.self_attn.qkv_proj.weight')).toEqual([16, 8]);
  expect(weights.get('model.layers.0.mlp.gate_up_proj.weight')).toEqual([24, 8]);
});
