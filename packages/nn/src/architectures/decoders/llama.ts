import type { Architecture } from '../architecture.ts';
import { gatedDecoder } from './gated-decoder.ts';

/** Llama (arXiv:2302.13971), Llama 2 and 3, and models of the same form, such as SmolLM2. */
export const llama: Architecture = {
  modelType: 'llama',
  read: config => {
    // The two elements of a rotated pair are half a head apart.
    config.only('rope_interleaved', false);
    const bias = config.flag('attention_bias', false);
    const feedForwardBias = config.flag('mlp_bias', false);
    return gatedDecoder(config, { inputBias: bias, outputBias: bias, feedForwardBias });
  },
};
