import type { Architecture } from '../architecture.ts';
import { gatedDecoder } from './gated-decoder.ts';
import { qwenOptions } from './qwen2.ts';

/** Qwen3 (arXiv:2505.09388): norms of the heads of q and k instead of Qwen2's biases. */
export const qwen3: Architecture = {
  modelType: 'qwen3',
  read: config =>
    gatedDecoder(config, { ...qwenOptions(config), biasOption: true, headNorms: true, headDim: 128 }),
};
