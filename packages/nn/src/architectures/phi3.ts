import type { Architecture } from './architecture.ts';
import { gatedDecoder } from './gated-decoder.ts';

/** Phi-3 (arXiv:2404.14219): Llama with one layer for q, k and v and one for gate and up. */
export const phi3: Architecture = {
  modelType: 'phi3',
  read: config => {
    const window = config.has('sliding_window') ? config.integer('sliding_window') : undefined;
    config.only('attention_bias', false);
    // What long contexts would be scaled from; read with the scaling.
    config.integer('original_max_position_embeddings', 4096);
    return gatedDecoder(config, { fused: true, attention: () => ({ window }) });
  },
};
