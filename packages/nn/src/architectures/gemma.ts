import type { ConfigReader } from '../config/config-reader.ts';
import { plainRope, type Rope, readRope, readRopeParameters } from '../config/rope.ts';
import type { Architecture, ModelDefinition } from './architecture.ts';
import { gatedDecoder, slidingLayers } from './gated-decoder.ts';

interface GemmaOptions {
  /** Whether a layer has a window where the configuration does not say. */
  readonly isSliding: (layer: number) => boolean;
  readonly headNorms: boolean;
  readonly window: number;
  rope?(isSliding: (layer: number) => boolean, headDim: number): (layer: number, length: number) => Rope;
}

function gemma(
  config: ConfigReader,
  { isSliding: standard, headNorms, window, rope }: GemmaOptions,
): ModelDefinition {
  const layers = config.integer('num_hidden_layers');
  const isSliding = slidingLayers(config, layers, standard);
  const size = config.integer('sliding_window', window);
  const scale = config.number('query_pre_attn_scalar', 256) ** -0.5;
  const softcap = config.has('attn_logit_softcapping') ? config.number('attn_logit_softcapping') : undefined;
  const logitSoftcap = config.has('final_logit_softcapping')
    ? config.number('final_logit_softcapping')
    : undefined;
  const bias = config.flag('attention_bias', false);
  config.only('use_bidirectional_attention', false);
  // Files may have both; the library reads the newer one.
  const activation = config.has('hidden_activation') ? 'hidden_activation' : 'hidden_act';
  config.has('hidden_act');
  return gatedDecoder(config, {
    ...{ normOffset: 1, outerNorms: true, tied: true, headDim: 256, headNorms },
    ...{ inputBias: bias, outputBias: bias },
    activation,
    attention: layer => ({ scale, softcap, window: isSliding(layer) ? size : undefined }),
    table: {
      logitSoftcap,
      embedding: { name: 'model.embed_tokens.weight', scale: Math.sqrt(config.integer('hidden_size')) },
      ...(rope && { rope: rope(isSliding, config.integer('head_dim', 256)) }),
    },
  });
}

/**
 * Gemma 2 (arXiv:2408.00118): capped scores and logits, every other layer with a window, norms before and
 * after each half.
 */
export const gemma2: Architecture = {
  modelType: 'gemma2',
  read: config => gemma(config, { isSliding: layer => layer % 2 === 0, headNorms: false, window: 4096 }),
};

/**
 * Gemma 3 (arXiv:2503.19786), the models of text: norms of q and k, five layers with a window for each
 * without, and a base for each kind.
 */
export const gemma3: Architecture = {
  modelType: 'gemma3_text',
  read: config => {
    const pattern = config.integer('sliding_window_pattern', config.integer('_sliding_window_pattern', 6));
    const maxPositions = config.integer('max_position_embeddings', 131_072);
    return gemma(config, {
      ...{ isSliding: layer => (layer + 1) % pattern !== 0, headNorms: true, window: 4096 },
      rope(isSliding, headDim) {
        const shape = { headDim, maxPositions };
        const nested = config.object('rope_parameters');
        const local = config.number('rope_local_base_freq', 10_000);
        const sliding = nested?.object('sliding_attention') ?? null;
        const full = nested?.object('full_attention') ?? null;
        const ropes = {
          sliding: sliding ? readRopeParameters(sliding, shape, local) : plainRope(headDim, local),
          full: full ? readRopeParameters(full, shape, 1_000_000) : readRope(config, shape, 1_000_000),
        };
        return (layer, length) => ropes[isSliding(layer) ? 'sliding' : 'full'](length);
      },
    });
  },
};
