import { floatType } from '../../file/element-type.ts';
import { NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { swish } from '../elementwise/activations.ts';
import { resizeOperators } from '../images/resize.ts';
import { localResponseNorm, lpNormalization } from './channel-norms.ts';
import { crossEntropyLoss, likelihoodLoss } from './losses.ts';
import { nonZero } from './non-zero.ts';
import { qLinearConv, qLinearMatMul } from './quantized-products.ts';
import { convTranspose } from './transposed-convolution.ts';

/** Resize of versions before 10, whose scales are an input, or an attribute before version 9. */
const upsample: OnnxOperator = call => {
  const x = call.input(0);
  const values = call.attribute('scales', 'floats') ?? [];
  const given = { name: 'scales', type: floatType, shape: [values.length], isStatic: true, isWeight: false };
  const tensor = (): never => call.refuse('has scales that are not numbers');
  const scales = call.optional(1) ?? { ...given, host: () => ({ shape: given.shape, values }), tensor };
  return resizeOperators.Resize(new NodeCall(call.node, 10, call, [x, scales]));
};

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
  ConvTranspose: convTranspose,
  LRN: localResponseNorm,
  LpNormalization: lpNormalization,
  NegativeLogLikelihoodLoss: likelihoodLoss,
  NonZero: nonZero,
  QLinearConv: qLinearConv,
  QLinearMatMul: qLinearMatMul,
  SoftmaxCrossEntropyLoss: crossEntropyLoss,
  SwiGLU: swiGlu,
  Upsample: upsample,
};
