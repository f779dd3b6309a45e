import type { OnnxOperator } from '../node-call.ts';
import { attentionOperators } from './attention/attention.ts';
import { positionOperators } from './attention/rotary-embedding.ts';
import { activationOperators } from './elementwise/activations.ts';
import { arithmeticOperators } from './elementwise/arithmetic.ts';
import { castOperators } from './elementwise/casts.ts';
import { comparisonOperators } from './elementwise/comparison.ts';
import { convolutionOperators } from './images/convolution.ts';
import { poolingOperators } from './images/pooling.ts';
import { resizeOperators } from './images/resize.ts';
import { orderingOperators } from './indexing/ordering.ts';
import { scatteringOperators } from './indexing/scattering.ts';
import { selectingOperators } from './indexing/selecting.ts';
import { microsoftOperators } from './microsoft.ts';
import { integerProductOperators } from './products/integer-products.ts';
import { productOperators } from './products/products.ts';
import { quantizationOperators } from './products/quantization.ts';
import { normalizationOperators } from './reductions/normalization.ts';
import { reductionOperators } from './reductions/reductions.ts';
import { shapeOperators } from './shapes.ts';

const standard: Readonly<Record<string, OnnxOperator>> = {
  ...shapeOperators,
  ...arithmeticOperators,
  ...comparisonOperators,
  ...castOperators,
  ...activationOperators,
  ...selectingOperators,
  ...scatteringOperators,
  ...orderingOperators,
  ...productOperators,
  ...integerProductOperators,
  ...quantizationOperators,
  ...convolutionOperators,
  ...poolingOperators,
  ...resizeOperators,
  ...reductionOperators,
  ...normalizationOperators,
  ...attentionOperators,
  ...positionOperators,
};

/**
 * The supported operators, by the domain of their operator set. To add an operator, write a function in a
 * file of this folder and add it to that file's list.
 */
export const onnxOperators: Readonly<Record<string, Readonly<Record<string, OnnxOperator>>>> = {
  '': standard,
  'com.microsoft': { ...pick('FusedMatMul', 'SimplifiedLayerNormalization'), ...microsoftOperators },
};

function pick(...names: readonly string[]): Record<string, OnnxOperator> {
  return Object.fromEntries(names.map(name => [name, standard[name] as OnnxOperator]));
}

/** The operator of a node; undefined if it is not supported. */
export function onnxOperatorOf(domain: string, op: string): OnnxOperator | undefined {
  const operators = Object.hasOwn(onnxOperators, domain) ? onnxOperators[domain] : undefined;
  return operators && Object.hasOwn(operators, op) ? operators[op] : undefined;
}
