import { texts } from '../../checks/rules.ts';
import type { ConfigReader } from '../../files/config/config-reader.ts';
import { type ModelDefinition, weightNames } from '../architecture.ts';
import type { DecoderTable } from '../transformer/decoder.ts';
import { type Activation, activationNames } from '../transformer/feed-forward.ts';
import type { NormOptions } from '../transformer/norm.ts';
import { type RopeRule, type RopeShape, readRope } from '../transformer/rope.ts';
import type { SelfAttentionOptions } from '../transformer/self-attention.ts';

/** The differences of a family from Llama. */
export interface GatedDecoderOptions {
  /** The number added to the stored weight of a norm. */
  readonly normOffset?: number;
  readonly activation?: Activation;
  readonly tied?: boolean;
  /** Whether files have the option `attention_bias`, which gives q, k, v and the output a bias. */
  readonly biasOption?: boolean;
  /** Whether q, k and v have a bias. Default: what `attention_bias` says. */
  readonly inputBias?: boolean;
  readonly feedForwardBias?: boolean;
  /** Whether the heads of q and k are normalised. */
  readonly headNorms?: boolean;
  /** Whether one layer gives q, k and v, and one layer gate and up. */
  readonly fused?: boolean;
  /** Whether the results of attention and feed-forward are normalised too. */
  readonly outerNorms?: boolean;
  /** The head size that transformers uses if a file does not give one. */
  readonly headDim?: number;
  readonly kvHeads?: number;
  readonly epsilon?: number;
  /** Differences in how positions are rotated; `maxPositions` is for files that do not give it. */
  readonly ropeShape?: Partial<RopeShape>;
  /** How the positions of a layer are rotated, if not as `readRope` reads. */
  readonly rope?: ((shape: RopeShape, config: ConfigReader) => (layer: number) => RopeRule) | undefined;
  /** Whether embeddings are multiplied by the root of their size. */
  readonly scalesEmbedding?: boolean;
  /** The padding token that transformers uses if a file does not give one. */
  readonly padding?: number;
  readonly attention?: (layer: number) => Partial<SelfAttentionOptions>;
  readonly table?: Partial<DecoderTable>;
}

/**
 * A decoder with RMSNorm, rotary positions and a gated feed-forward layer, with the weight names of Llama and
 * its relatives.
 */
export function gatedDecoder(config: ConfigReader, options: GatedDecoderOptions = {}): ModelDefinition {
  const { fused, outerNorms, rope = sameRope } = options;
  const dim = config.integer('hidden_size');
  const heads = config.integer('num_attention_heads');
  const kvHeads = config.integerOrNull('num_key_value_heads', options.kvHeads ?? heads) ?? heads;
  const headDim = config.count('head_dim', options.headDim ?? Math.floor(dim / heads));
  const { maxPositions = 2048 } = options.ropeShape ?? {};
  config.checkDivides('num_key_value_heads', kvHeads, 'num_attention_heads', heads);
  // Rotary positions rotate pairs of elements.
  if (headDim % 2 !== 0) config.fail('head_dim', `must be even, got ${headDim}`);
  const norm: NormOptions = {
    kind: 'rms',
    epsilon: config.number('rms_norm_eps', options.epsilon ?? 1e-6),
    offset: options.normOffset,
  };
  const bias = options.biasOption && config.flag('attention_bias', false);
  const tied = config.flag('tie_word_embeddings', options.tied ?? false);
  const shape = {
    ...options.ropeShape,
    ...{ headDim, maxPositions: config.integer('max_position_embeddings', maxPositions) },
  };
  const decoder: DecoderTable = {
    ...{ dim, norm },
    vocabulary: config.integer('vocab_size'),
    layers: config.count('num_hidden_layers'),
    embedding: {
      name: 'model.embed_tokens.weight',
      scale: options.scalesEmbedding ? Math.sqrt(dim) : undefined,
      padding: config.integerOrNull('pad_token_id', options.padding, -1),
    },
    rope: rope(shape, config),
    prefix: layer => `model.layers.${layer}.`,
    attention: layer => ({
      ...{ heads, kvHeads, headDim },
      causal: true,
      qkv: fused ? 'self_attn.qkv_proj' : ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
      o: 'self_attn.o_proj',
      inputs: { bias: options.inputBias ?? bias },
      output: { bias },
      ...(options.headNorms && { headNorms: { q: 'self_attn.q_norm', k: 'self_attn.k_norm', norm } }),
      ...options.attention?.(layer),
    }),
    feedForward: {
      hidden: config.integer('intermediate_size'),
      activation: options.activation ?? config.oneOf('hidden_act', activationNames, 'silu'),
      gate: fused ? 'mlp.gate_up_proj' : 'mlp.gate_proj',
      up: fused ? 'mlp.gate_up_proj' : 'mlp.up_proj',
      down: 'mlp.down_proj',
      bias: options.feedForwardBias,
    },
    norms: outerNorms
      ? {
          beforeAttention: 'input_layernorm',
          afterAttention: 'post_attention_layernorm',
          beforeFeedForward: 'pre_feedforward_layernorm',
          afterFeedForward: 'post_feedforward_layernorm',
        }
      : { beforeAttention: 'input_layernorm', beforeFeedForward: 'post_attention_layernorm' },
    finalNorm: 'model.norm',
    head: tied ? null : 'lm_head',
    ...options.table,
  };
  const names = weightNames({
    base: 'model.',
    parts: ['layers.', 'embed_tokens.', 'norm.'],
    ignored: [/\.rotary_emb\.inv_freq$/],
    ...(tied && { tied: { 'lm_head.weight': decoder.embedding.name } }),
  });
  return { kind: 'causal', decoder, ...names };
}

/** Rotates the positions of all layers in the same way. */
function sameRope(shape: RopeShape, config: ConfigReader): () => RopeRule {
  const rule = readRope(config, shape);
  return () => rule;
}

/**
 * The window of each layer, according to `layer_types` or a rule for the layers that have one.
 * @param window the size of the window; undefined if the model does not use it.
 */
export function layerWindows(
  config: ConfigReader,
  window: number | undefined,
  rule: (layer: number) => boolean,
): (layer: number) => number | undefined {
  const layers = config.count('num_hidden_layers');
  const types = config.checked<readonly string[]>(
    'layer_types',
    texts,
    Array.from({ length: layers }, (_, n) => (rule(n) ? 'sliding_attention' : 'full_attention')),
  );
  const unknown = types.find(type => type !== 'full_attention' && type !== 'sliding_attention');
  if (unknown !== undefined) config.fail('layer_types', `has '${unknown}', which is not supported`);
  if (types.length !== layers) config.fail('layer_types', `must name ${layers} layers, got ${types.length}`);
  if (window === undefined && types.includes('sliding_attention'))
    config.fail('sliding_window', "is null or unused, but a layer has 'sliding_attention'");
  return layer => (types[layer] === 'sliding_attention' ? window : undefined);
}
