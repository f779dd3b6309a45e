import type { Architecture } from '../architecture.ts';
import { gatedDecoder } from './gated-decoder.ts';

/** Llama (arXiv:2302.13971), Llama 2 and 3, and models of the same form, such as SmolLM2. */
export const llama: Architecture = {
  modelType: 'llama',
  read: config => {
    // The two elements of a rotated pair are half a head apart.
    config.only('rope_interleaved', false);
    return gatedDecoder(config, { biasOption: true, feedForwardBias: config.flag('mlp_bias', false) });
  },
};
