import { expect, test } from 'vitest';
import { layersOf } from '../../model/weights.ts';
import { readModel } from '../read-model.ts';

const sizes = {
  ...{ vocab_size: 16, hidden_size: 8, num_hidden_layers: 2, intermediate_size: 12 },
  ...{ max_position_embeddings: 32, num_attention_heads: 2, num_key_value_heads: 1, head_dim: 4 },
};
const decoderOf = (config: Record<string, unknown>) => {
  const model = readModel(config);
  if (model.kind !== 'causal') throw new Error('no decoder');
  return model.decoder;
};

test('Gemma scales embeddings, and its files mean the approximation by tanh when they say gelu', () => {
  const decoder = decoderOf({ ...sizes, model_type: 'gemma', hidden_act: 'gelu', hidden_activation: null });
  expect(decoder).toMatchObject({ head: null, norm: { offset: 1 }, embedding: { scale: Math.sqrt(8) } });
  expect(decoder.feedForward.activation).toBe('gelu_pytorch_tanh');
  expect(decoder.attention(0)).toMatchObject({ inputs: { bias: false } });
  expect(decoder.attention(0).scale).toBeUndefined();
});

test('Gemma 2 caps scores and logits, scales embeddings and alternates windows', () => {
  const decoder = decoderOf({
    ...{ ...sizes, model_type: 'gemma2', sliding_window: 6, query_pre_attn_scalar: 16 },
    ...{ attn_logit_softcapping: 50, final_logit_softcapping: 30, hidden_activation: 'gelu_pytorch_tanh' },
  });
  expect([0, 1].map(layer => decoder.attention(layer))).toMatchObject([
    { window: 6, softcap: 50, scale: 0.25 },
    { window: undefined, softcap: 50, scale: 0.25 },
  ]);
  expect(decoder).toMatchObject({
    logitSoftcap: 30,
    head: null,
    norm: { offset: 1 },
    embedding: { scale: Math.sqrt(8) },
  });
  expect(decoder.norms.afterFeedForward).toBe('post_feedforward_layernorm');
});

test('Gemma 2 has its published caps if a file does not give them, and none if it gives null', () => {
  const caps = (given: object) => {
    const decoder = decoderOf({ ...sizes, model_type: 'gemma2', ...given });
    return [decoder.attention(0).softcap, decoder.logitSoftcap, decoder.feedForward.activation];
  };
  expect(caps({})).toEqual([50, 30, 'gelu_pytorch_tanh']);
  expect(caps({ attn_logit_softcapping: null, final_logit_softcapping: null })).toEqual([
    ...[undefined, undefined, 'gelu_pytorch_tanh'],
  ]);
});

test('Gemma 3 takes a base from outside the parameters of its layers if they have none', () => {
  const decoder = decoderOf({
    ...{ ...sizes, model_type: 'gemma3_text', rope_theta: 100, rope_local_base_freq: 25 },
    layer_types: ['sliding_attention', 'full_attention'],
    rope_parameters: {
      sliding_attention: { rope_type: 'default' },
      full_attention: { rope_type: 'default' },
    },
  });
  expect([0, 1].map(layer => decoder.rope?.(layer).at(1).frequencies[1])).toEqual([0.2, 0.1]);
});

test.each<readonly [string, Record<string, unknown>]>([
  ['older files', { rope_theta: 1_000_000, rope_local_base_freq: 10_000, sliding_window_pattern: 2 }],
  [
    'newer files',
    {
      layer_types: ['sliding_attention', 'full_attention'],
      rope_parameters: {
        sliding_attention: { rope_type: 'default', rope_theta: 10_000 },
        full_attention: { rope_type: 'default', rope_theta: 1_000_000 },
      },
    },
  ],
])('Gemma 3 has a base for each kind of layer, in %s', (_, given) => {
  const decoder = decoderOf({ ...sizes, model_type: 'gemma3_text', ...given });
  expect([0, 1].map(layer => decoder.attention(layer).window)).toEqual([4096, undefined]);
  const second = (layer: number) => decoder.rope?.(layer).at(8).frequencies[1];
  expect(second(0)).toBeCloseTo(10_000 ** -0.5, 12);
  expect(second(1)).toBeCloseTo(1_000_000 ** -0.5, 12);
  expect(
    layersOf(readModel({ ...sizes, model_type: 'gemma3_text', ...given })).weights.has(
      'model.layers.0.self_attn.k_norm.weight',
    ),
  ).toBe(true);
});
