import type { ConfigReader } from '../../files/config/config-reader.ts';
import type { Architecture } from '../architecture.ts';
import { gatedDecoder, slidingLayers } from './gated-decoder.ts';

/** Qwen2 (arXiv:2407.10671): Llama with biases for q, k and v. */
export const qwen2: Architecture = {
  modelType: 'qwen2',
  read: config => gatedDecoder(config, { inputBias: true, kvHeads: 32, attention: qwenWindow(config) }),
};

/** Qwen's window: if used, it applies to the layers from `max_window_layers` on. */
export function qwenWindow(config: ConfigReader): (layer: number) => { readonly window: number | undefined } {
  const used = config.flag('use_sliding_window', false);
  const window = config.integerOrNull('sliding_window', 4096);
  config.only('use_mrope', false);
  const first = config.integer('max_window_layers', 28, 0);
  const isSliding = slidingLayers(
    config,
    config.integer('num_hidden_layers'),
    layer => used && layer >= first,
  );
  return layer => ({ window: isSliding(layer) ? window : undefined });
}
