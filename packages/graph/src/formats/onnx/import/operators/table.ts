import type { OnnxOperator } from '../node-call.ts';
import { activationOperators } from './activations.ts';
import { attentionOperators } from './attention.ts';
import { elementwiseOperators } from './elementwise.ts';
import { integerProductOperators } from './integer-products.ts';
import { microsoftOperators } from './microsoft.ts';
import { normalizationOperators } from './normalization.ts';
import { orderingOperators } from './ordering.ts';
import { positionOperators } from './positions.ts';
import { productOperators } from './products.ts';
import { quantizationOperators } from './quantization.ts';
import { reductionOperators } from './reductions.ts';
import { scatteringOperators } from './scattering.ts';
import { selectingOperators } from './selecting.ts';
import { shapeOperators } from './shapes.ts';

const standard: Readonly<Record<string, OnnxOperator>> = {
  ...shapeOperators,
  ...elementwiseOperators,
  ...activationOperators,
  ...selectingOperators,
  ...scatteringOperators,
  ...orderingOperators,
  ...productOperators,
  ...integerProductOperators,
  ...quantizationOperators,
  ...reductionOperators,
  ...normalizationOperators,
  ...attentionOperators,
  ...positionOperators,
};

/**
 * The operators that are read, by the domain of their operator set. A new operator is a function in its file
 * and a line there.
 */
export const onnxOperators: Readonly<Record<string, Readonly<Record<string, OnnxOperator>>>> = {
  '': standard,
  'com.microsoft': { ...pick('FusedMatMul', 'SimplifiedLayerNormalization'), ...microsoftOperators },
};

function pick(...names: readonly string[]): Record<string, OnnxOperator> {
  return Object.fromEntries(names.map(name => [name, standard[name] as OnnxOperator]));
}

/** The operator of a node; undefined for one that is not read. */
export function onnxOperatorOf(domain: string, op: string): OnnxOperator | undefined {
  const operators = Object.hasOwn(onnxOperators, domain) ? onnxOperators[domain] : undefined;
  return operators && Object.hasOwn(operators, op) ? operators[op] : undefined;
}
