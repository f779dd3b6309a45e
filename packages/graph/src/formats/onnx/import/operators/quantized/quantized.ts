import type { OnnxOperator } from '../../node-call.ts';
import { integerProductOperators } from './integer-products.ts';
import { quantizationOperators } from './quantization.ts';
import { quantizedProductOperators } from './quantized-products.ts';

/** Operators of quantised models, which are loaded only for models with such an operator. */
export const quantizedOperators: Readonly<Record<string, OnnxOperator>> = {
  ...integerProductOperators,
  ...quantizationOperators,
  ...quantizedProductOperators,
};
