import type { OnnxOperator } from '../../node-call.ts';
import { blockOperators } from './blocks.ts';
import { convolutionOperators } from './convolution.ts';
import { poolingOperators } from './pooling.ts';
import { resizeOperators } from './resize.ts';

/**
 * Operators on images and on signals. They are loaded only for models with such an operator, because a page
 * that reads language models does not need their code.
 */
export const imageOperators: Readonly<Record<string, OnnxOperator>> = {
  ...convolutionOperators,
  ...blockOperators,
  ...poolingOperators,
  ...resizeOperators,
};
