import { numberOf } from '../../../ir/schema/attribute.ts';
import type { OnnxAttribute } from '../model.ts';
import { commonDType, type Translation, type Translations } from './translation.ts';

/**
 * Translates an operation that has another name in ONNX, with operands of one dtype and numeric attributes.
 */
function named(op: string, ...attributes: readonly string[]): Translation {
  return ({ inputs, outputs: [dst], attributes: own }, write) => {
    const result = dst.dtype === 'bool' ? inputs : [...inputs, dst];
    const dtype = commonDType(...result);
    const given = attributes.map((name): [string, OnnxAttribute] => [name, { float: numberOf(own, name) }]);
    const type = dst.dtype === 'bool' ? 'bool' : dtype;
    write.give(dst, type, op, write.allAs(inputs, dtype), Object.fromEntries(given));
  };
}

/** Chooses elements of two tensors by a condition. */
const where: Translation = ({ inputs, outputs: [dst] }, write) => {
  const names = inputs.map(t => write.name(t));
  write.give(dst, inputs[1].dtype, 'Where', names);
};

/** Functions and arithmetic. */
export const elementwise: Translations = {
  Abs: named('Abs'),
  Add: named('Add'),
  Cos: named('Cos'),
  Divide: named('Div'),
  Elu: named('Elu', 'alpha'),
  Equal: named('Equal'),
  Erf: named('Erf'),
  Exp: named('Exp'),
  Greater: named('Greater'),
  GreaterEqual: named('GreaterOrEqual'),
  HardSigmoid: named('HardSigmoid', 'alpha', 'beta'),
  HardSwish: named('HardSwish'),
  LeakyReLU: named('LeakyRelu', 'alpha'),
  Less: named('Less'),
  LessEqual: named('LessOrEqual'),
  Log: named('Log'),
  LogicalAnd: named('And'),
  LogicalNot: named('Not'),
  LogicalOr: named('Or'),
  Maximum: named('Max'),
  Minimum: named('Min'),
  Mish: named('Mish'),
  Multiply: named('Mul'),
  Neg: named('Neg'),
  Power: named('Pow'),
  ReLU: named('Relu'),
  Reciprocal: named('Reciprocal'),
  Round: named('Round'),
  Sigmoid: named('Sigmoid'),
  Sin: named('Sin'),
  Sqrt: named('Sqrt'),
  Subtract: named('Sub'),
  Tanh: named('Tanh'),
  Clamp: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const bounds = ['min', 'max'].map(name => write.numbers([numberOf(attributes, name)], src.dtype));
    write.give(dst, src.dtype, 'Clip', [write.name(src), ...bounds]);
  },
  GELU: ({ inputs: [src], outputs: [dst], attributes: { mode } }, write) => {
    const approximate = { string: mode === 'gelu_tanh' ? 'tanh' : 'none' };
    write.give(dst, src.dtype, 'Gelu', [write.name(src)], { approximate });
  },
  Pow: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const exponent = write.numbers([numberOf(attributes, 'beta')], src.dtype);
    write.give(dst, src.dtype, 'Pow', [write.name(src), exponent]);
  },
  // onnxruntime 1.30 has no kernel for Swish, which ONNX added in version 24.
  SiLU: ({ inputs: [src], outputs: [dst] }, write) => {
    const x = write.name(src);
    write.give(dst, src.dtype, 'Mul', [x, write.node('Sigmoid', [x])]);
  },
  SoftPlus: ({ inputs: [src], outputs: [dst], attributes }, write) => {
    const beta = write.numbers([numberOf(attributes, 'beta')], src.dtype);
    const scaled = write.node('Mul', [write.name(src), beta]);
    write.give(dst, src.dtype, 'Div', [write.node('Softplus', [scaled]), beta]);
  },
  Square: ({ inputs: [src], outputs: [dst] }, write) => {
    write.give(dst, src.dtype, 'Mul', [write.name(src), write.name(src)]);
  },
  SquaredDifference: ({ inputs, outputs: [dst] }, write) => {
    const dtype = commonDType(...inputs, dst);
    const difference = write.node('Sub', write.allAs(inputs, dtype));
    write.give(dst, dtype, 'Mul', [difference, difference]);
  },
  NotEqual: ({ inputs, outputs: [dst] }, write) => {
    const equal = write.node('Equal', write.allAs(inputs, commonDType(...inputs)));
    write.give(dst, 'bool', 'Not', [equal]);
  },
  Where: where,
  Select: where,
  Mask: ({ inputs: [src, cond], outputs: [dst], attributes: { invert } }, write) => {
    const zero = write.numbers([0], src.dtype);
    const branches = [write.name(src), zero];
    write.give(dst, src.dtype, 'Where', [write.name(cond), ...(invert ? branches.reverse() : branches)]);
  },
};
