import { type Architecture, weightNames } from '../architecture.ts';
import { activationNames } from '../transformer/feed-forward.ts';

/** GPT-2 (Radford et al. 2019): learned positions, LayerNorm, weights stored (in, out). */
export const gpt2: Architecture = {
  modelType: 'gpt2',
  read: config => {
    const dim = config.integer('n_embd', 768);
    const heads = config.integer('n_head', 12);
    config.checkDivides('n_head', heads, 'n_embd', dim);
    const epsilon = config.number('layer_norm_epsilon', 1e-5);
    const hidden = config.integerOrNull('n_inner') ?? 4 * dim;
    const isScaled = config.flag('scale_attn_weights', true);
    const isScaledByLayer = config.flag('scale_attn_by_inverse_layer_idx', false);
    config.only('add_cross_attention', false);
    config.flag('reorder_and_upcast_attn', false);
    const tied = config.flag('tie_word_embeddings', true);
    const stored = { bias: true, transposed: true };
    return {
      kind: 'causal',
      decoder: {
        dim,
        vocabulary: config.integer('vocab_size', 50_257),
        layers: config.count('n_layer', 12),
        embedding: { name: 'transformer.wte.weight' },
        positions: { name: 'transformer.wpe.weight', count: config.integer('n_positions', 1024) },
        norm: { kind: 'layer', epsilon },
        prefix: layer => `transformer.h.${layer}.`,
        attention: layer => ({
          ...{ heads, kvHeads: heads, headDim: dim / heads, causal: true },
          scale: (isScaled ? (dim / heads) ** -0.5 : 1) / (isScaledByLayer ? layer + 1 : 1),
          qkv: 'attn.c_attn',
          o: 'attn.c_proj',
          inputs: stored,
          output: stored,
        }),
        feedForward: {
          ...{ hidden, up: 'mlp.c_fc', down: 'mlp.c_proj' },
          activation: config.oneOf('activation_function', activationNames, 'gelu_new'),
          ...stored,
        },
        norms: { beforeAttention: 'ln_1', beforeFeedForward: 'ln_2' },
        finalNorm: 'transformer.ln_f',
        head: tied ? null : 'lm_head',
      },
      ...weightNames({
        ...(tied && { tied: { 'lm_head.weight': 'transformer.wte.weight' } }),
        base: 'transformer.',
        parts: ['h.', 'wte.', 'wpe.', 'ln_f.'],
        ignored: [/\.attn\.(masked_)?bias$/],
      }),
    };
  },
};
