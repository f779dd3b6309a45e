import type { Architecture } from '../architecture.ts';
import { gatedDecoder } from './gated-decoder.ts';

/** Mistral (arXiv:2310.06825): Llama with a sliding window. */
export const mistral: Architecture = {
  modelType: 'mistral',
  read: config => {
    const window = config.integerOrNull('sliding_window', 4096);
    return gatedDecoder(config, {
      ...{ kvHeads: 8, ropeShape: { maxPositions: 131_072 } },
      attention: () => ({ window }),
    });
  },
};
