import type { ConfigReader } from '../../files/config/config-reader.ts';
import type { Architecture, ModelDefinition } from '../architecture.ts';
import { activationNames } from '../transformer/feed-forward.ts';
import { type RopeRule, type RopeShape, readRopeParameters } from '../transformer/rope.ts';
import { type GatedDecoderOptions, gatedDecoder, layerWindows } from './gated-decoder.ts';

/** The options of all models of the family: scaled embeddings, and norms that add 1 to their weights. */
function sharedOptions(config: ConfigReader): Omit<GatedDecoderOptions, 'activation'> {
  config.only('use_bidirectional_attention', false);
  return {
    ...{ normOffset: 1, tied: true, headDim: 256, biasOption: true },
    ...{ scalesEmbedding: true, padding: 0 },
  };
}

/**
 * Gemma (arXiv:2403.08295): heads whose size does not follow from the width of the model, and a gated GELU.
 */
export const gemma1: Architecture = {
  modelType: 'gemma',
  read: config => {
    // transformers ignores the newer name of the option.
    config.has('hidden_activation');
    const activation = config.oneOf('hidden_act', activationNames, 'gelu_pytorch_tanh');
    return gatedDecoder(config, {
      ...{ ...sharedOptions(config), kvHeads: 16, ropeShape: { maxPositions: 8192 } },
      // The published files say 'gelu' and mean its approximation.
      activation: activation === 'gelu' ? 'gelu_pytorch_tanh' : activation,
    });
  },
};

/** The options in which Gemma 2 and Gemma 3 differ. */
interface GemmaOptions extends GatedDecoderOptions {
  /** Whether a layer has a window, if the configuration does not say. */
  readonly isSliding: (layer: number) => boolean;
  /** The cap of the scores. */
  readonly softcap?: number | undefined;
  /** How positions are rotated in layers without and with a window, if these differ. */
  ropes?(shape: RopeShape): readonly [full: RopeRule, sliding: RopeRule];
}

function gemma(config: ConfigReader, { isSliding, softcap, ropes, ...own }: GemmaOptions): ModelDefinition {
  const size = config.integerOrNull('sliding_window', 4096);
  const windowOf = layerWindows(config, size, isSliding);
  // The larger models of Gemma 2 give the same number under another name, too.
  config.only('sliding_window_size', size);
  const scale = config.positive('query_pre_attn_scalar', 256) ** -0.5;
  // transformers ignores the older name of the option.
  config.has('hidden_act');
  const activation = config.oneOf('hidden_activation', activationNames, 'gelu_pytorch_tanh');
  return gatedDecoder(config, {
    ...{ ...sharedOptions(config), outerNorms: true, kvHeads: 4, activation },
    attention: layer => ({ scale, softcap, window: windowOf(layer) }),
    rope:
      ropes &&
      (shape => {
        const [full, sliding] = ropes(shape);
        return layer => (windowOf(layer) === undefined ? full : sliding);
      }),
    ...own,
  });
}

/**
 * Gemma 2 (arXiv:2408.00118): softcapped scores and logits, a window in every other layer, norms before and
 * after attention and feed-forward.
 */
export const gemma2: Architecture = {
  modelType: 'gemma2',
  read: config =>
    gemma(config, {
      isSliding: layer => layer % 2 === 0,
      ropeShape: { maxPositions: 8192 },
      softcap: config.positiveOrNull('attn_logit_softcapping', 50),
      table: { logitSoftcap: config.positiveOrNull('final_logit_softcapping', 30) },
    }),
};

/**
 * Gemma 3 (arXiv:2503.19786), the text models: norms of q and k, five layers with a window for each layer
 * without, and a rotary base for each of the two kinds.
 */
export const gemma3: Architecture = {
  modelType: 'gemma3_text',
  read: config => {
    const pattern = config.integer('sliding_window_pattern', 6);
    // transformers has the option, but does not cap scores.
    config.has('attn_logit_softcapping');
    return gemma(config, {
      isSliding: layer => (layer + 1) % pattern !== 0,
      headNorms: true,
      ropeShape: { maxPositions: 131_072 },
      table: { logitSoftcap: config.positiveOrNull('final_logit_softcapping') },
      ropes(shape) {
        const nested = config.object('rope_parameters');
        const full = nested?.object('full_attention') ?? config.object('rope_scaling');
        const sliding = nested?.object('sliding_attention') ?? null;
        nested?.finish();
        // transformers looks for this option of YaRN beside the parameters of the layers, not inside.
        for (const own of [full, sliding]) own?.only('truncate', true);
        return [
          readRopeParameters(full, shape, { theta: config.positive('rope_theta', 1_000_000) }),
          readRopeParameters(sliding, shape, { theta: config.positive('rope_local_base_freq', 10_000) }),
        ];
      },
    });
  },
};
