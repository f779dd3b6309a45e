import type { Architecture } from '../architecture.ts';
import { gatedDecoder } from './gated-decoder.ts';

/** Phi-3 (arXiv:2404.14219): Llama with one layer for q, k and v and one for gate and up. */
export const phi3: Architecture = {
  modelType: 'phi3',
  read: config => {
    const window = config.integerOrNull('sliding_window');
    for (const name of ['attention_bias', 'mlp_bias', 'lm_head_bias']) config.only(name, false);
    for (const name of ['full_attn_mod', 'interpolate_factor']) config.only(name, 1);
    return gatedDecoder(config, {
      ...{ fused: true, epsilon: 1e-5, padding: 32_000, attention: () => ({ window }) },
      ropeShape: {
        ...{ maxPositions: 4096, trained: 4096, partial: true },
        // Older names of LongRoPE.
        aliases: { su: 'longrope', yarn: 'longrope' },
      },
    });
  },
};
