import type { ConfigReader } from '../../files/config/config-reader.ts';
import type { Architecture } from '../architecture.ts';
import { type GatedDecoderOptions, gatedDecoder, layerWindows } from './gated-decoder.ts';

/** Qwen2 (arXiv:2407.10671): Llama with biases for q, k and v. */
export const qwen2: Architecture = {
  modelType: 'qwen2',
  read: config => gatedDecoder(config, { ...qwenOptions(config), inputBias: true }),
};

/**
 * The common part of Qwen's models. A window, if used, applies to the layers from `max_window_layers` on.
 */
export function qwenOptions(config: ConfigReader): GatedDecoderOptions {
  const size = config.integerOrNull('sliding_window', 4096);
  const window = config.flag('use_sliding_window', false) ? size : undefined;
  config.only('use_mrope', false);
  const first = config.integer('max_window_layers', 28, 0);
  const windowOf = layerWindows(config, window, layer => window !== undefined && layer >= first);
  return {
    kvHeads: 32,
    ropeShape: { maxPositions: 32_768 },
    attention: layer => ({ window: windowOf(layer) }),
  };
}
