import { type OnnxOperator, result } from '../../node-call.ts';
import { swish } from '../elementwise/activations.ts';
import { localResponseNorm, lpNormalization } from './channel-norms.ts';
import { crossEntropyLoss, likelihoodLoss } from './losses.ts';
import { nonZero } from './non-zero.ts';

/** swish(x₀) · x₁. */
const swiGlu: OnnxOperator = call => {
  const x = call.input(0);
  const gate = [swish(1)(call)].flat()[0];
  return result(x, () => {
    const y = gate.emit?.() ?? call.refuse('has no gate');
    return call.draft.op('Multiply', [y, call.input(1).tensor()]);
  });
};

/**
 * Operators of ONNX that few models use. They are loaded only for models with an operator that is not in the
 * main list, because a page that reads other models does not need their code.
 */
export const rareOperators: Readonly<Record<string, OnnxOperator>> = {
  LRN: localResponseNorm,
  LpNormalization: lpNormalization,
  NegativeLogLikelihoodLoss: likelihoodLoss,
  NonZero: nonZero,
  SoftmaxCrossEntropyLoss: crossEntropyLoss,
  SwiGLU: swiGlu,
};
