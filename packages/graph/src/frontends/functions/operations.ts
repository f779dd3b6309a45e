import { type OperationFunction, operation } from './operation-function.ts';

// One function for each operation of the table; `OPERATIONS.md` says what each computes. A test compares this
// list with the table.
export const abs: OperationFunction<'Abs'> = /* @__PURE__ */ operation('Abs');
export const add: OperationFunction<'Add'> = /* @__PURE__ */ operation('Add');
export const argmax: OperationFunction<'ArgMax'> = /* @__PURE__ */ operation('ArgMax');
export const biasAdd: OperationFunction<'BiasAdd'> = /* @__PURE__ */ operation('BiasAdd');
export const broadcastLike: OperationFunction<'BroadcastLike'> = /* @__PURE__ */ operation('BroadcastLike');
export const clamp: OperationFunction<'Clamp'> = /* @__PURE__ */ operation('Clamp');
export const convolution: OperationFunction<'Convolution'> = /* @__PURE__ */ operation('Convolution');
export const cos: OperationFunction<'Cos'> = /* @__PURE__ */ operation('Cos');
export const crossEntropy: OperationFunction<'CrossEntropy'> = /* @__PURE__ */ operation('CrossEntropy');
export const cumsum: OperationFunction<'CumSum'> = /* @__PURE__ */ operation('CumSum');
export const dequantize: OperationFunction<'Dequantize'> = /* @__PURE__ */ operation('Dequantize');
export const divide: OperationFunction<'Divide'> = /* @__PURE__ */ operation('Divide');
export const dropout: OperationFunction<'Dropout'> = /* @__PURE__ */ operation('Dropout');
export const dynamicDequantize: OperationFunction<'DynamicDequantize'> =
  /* @__PURE__ */ operation('DynamicDequantize');
export const dynamicQuantize: OperationFunction<'DynamicQuantize'> =
  /* @__PURE__ */ operation('DynamicQuantize');
export const elu: OperationFunction<'Elu'> = /* @__PURE__ */ operation('Elu');
export const equal: OperationFunction<'Equal'> = /* @__PURE__ */ operation('Equal');
export const erf: OperationFunction<'Erf'> = /* @__PURE__ */ operation('Erf');
export const exp: OperationFunction<'Exp'> = /* @__PURE__ */ operation('Exp');
export const expand: OperationFunction<'Expand'> = /* @__PURE__ */ operation('Expand');
export const gather: OperationFunction<'Gather'> = /* @__PURE__ */ operation('Gather');
export const gatherElements: OperationFunction<'GatherElements'> =
  /* @__PURE__ */ operation('GatherElements');
export const gelu: OperationFunction<'GELU'> = /* @__PURE__ */ operation('GELU');
export const genIndex: OperationFunction<'GenIndex'> = /* @__PURE__ */ operation('GenIndex');
export const greater: OperationFunction<'Greater'> = /* @__PURE__ */ operation('Greater');
export const greaterEqual: OperationFunction<'GreaterEqual'> = /* @__PURE__ */ operation('GreaterEqual');
export const hardSigmoid: OperationFunction<'HardSigmoid'> = /* @__PURE__ */ operation('HardSigmoid');
export const hardSwish: OperationFunction<'HardSwish'> = /* @__PURE__ */ operation('HardSwish');
export const layerNorm: OperationFunction<'LayerNorm'> = /* @__PURE__ */ operation('LayerNorm');
export const leakyRelu: OperationFunction<'LeakyReLU'> = /* @__PURE__ */ operation('LeakyReLU');
export const less: OperationFunction<'Less'> = /* @__PURE__ */ operation('Less');
export const lessEqual: OperationFunction<'LessEqual'> = /* @__PURE__ */ operation('LessEqual');
export const log: OperationFunction<'Log'> = /* @__PURE__ */ operation('Log');
export const logicalAnd: OperationFunction<'LogicalAnd'> = /* @__PURE__ */ operation('LogicalAnd');
export const logicalNot: OperationFunction<'LogicalNot'> = /* @__PURE__ */ operation('LogicalNot');
export const logicalOr: OperationFunction<'LogicalOr'> = /* @__PURE__ */ operation('LogicalOr');
export const logSoftmax: OperationFunction<'LogSoftmax'> = /* @__PURE__ */ operation('LogSoftmax');
export const mask: OperationFunction<'Mask'> = /* @__PURE__ */ operation('Mask');
export const matmul: OperationFunction<'MatMul'> = /* @__PURE__ */ operation('MatMul');
export const maximum: OperationFunction<'Maximum'> = /* @__PURE__ */ operation('Maximum');
export const minimum: OperationFunction<'Minimum'> = /* @__PURE__ */ operation('Minimum');
export const mish: OperationFunction<'Mish'> = /* @__PURE__ */ operation('Mish');
export const multiply: OperationFunction<'Multiply'> = /* @__PURE__ */ operation('Multiply');
export const neg: OperationFunction<'Neg'> = /* @__PURE__ */ operation('Neg');
export const notEqual: OperationFunction<'NotEqual'> = /* @__PURE__ */ operation('NotEqual');
export const pad: OperationFunction<'Pad'> = /* @__PURE__ */ operation('Pad');
export const pow: OperationFunction<'Pow'> = /* @__PURE__ */ operation('Pow');
export const power: OperationFunction<'Power'> = /* @__PURE__ */ operation('Power');
export const quantize: OperationFunction<'Quantize'> = /* @__PURE__ */ operation('Quantize');
export const reciprocal: OperationFunction<'Reciprocal'> = /* @__PURE__ */ operation('Reciprocal');
export const reduceL1: OperationFunction<'ReduceL1'> = /* @__PURE__ */ operation('ReduceL1');
export const reduceL2: OperationFunction<'ReduceL2'> = /* @__PURE__ */ operation('ReduceL2');
export const reduceMax: OperationFunction<'ReduceMax'> = /* @__PURE__ */ operation('ReduceMax');
export const reduceMean: OperationFunction<'ReduceMean'> = /* @__PURE__ */ operation('ReduceMean');
export const reduceMin: OperationFunction<'ReduceMin'> = /* @__PURE__ */ operation('ReduceMin');
export const reduceProd: OperationFunction<'ReduceProd'> = /* @__PURE__ */ operation('ReduceProd');
export const reduceSum: OperationFunction<'ReduceSum'> = /* @__PURE__ */ operation('ReduceSum');
export const relu: OperationFunction<'ReLU'> = /* @__PURE__ */ operation('ReLU');
export const reorder: OperationFunction<'Reorder'> = /* @__PURE__ */ operation('Reorder');
export const rmsNorm: OperationFunction<'RMSNorm'> = /* @__PURE__ */ operation('RMSNorm');
export const rng: OperationFunction<'RNG'> = /* @__PURE__ */ operation('RNG');
export const rotaryEmbedding: OperationFunction<'RotaryEmbedding'> =
  /* @__PURE__ */ operation('RotaryEmbedding');
export const round: OperationFunction<'Round'> = /* @__PURE__ */ operation('Round');
export const scatterElements: OperationFunction<'ScatterElements'> =
  /* @__PURE__ */ operation('ScatterElements');
export const select: OperationFunction<'Select'> = /* @__PURE__ */ operation('Select');
export const sigmoid: OperationFunction<'Sigmoid'> = /* @__PURE__ */ operation('Sigmoid');
export const silu: OperationFunction<'SiLU'> = /* @__PURE__ */ operation('SiLU');
export const sin: OperationFunction<'Sin'> = /* @__PURE__ */ operation('Sin');
export const slice: OperationFunction<'Slice'> = /* @__PURE__ */ operation('Slice');
export const softmax: OperationFunction<'SoftMax'> = /* @__PURE__ */ operation('SoftMax');
export const softplus: OperationFunction<'SoftPlus'> = /* @__PURE__ */ operation('SoftPlus');
export const sqrt: OperationFunction<'Sqrt'> = /* @__PURE__ */ operation('Sqrt');
export const square: OperationFunction<'Square'> = /* @__PURE__ */ operation('Square');
export const squaredDifference: OperationFunction<'SquaredDifference'> =
  /* @__PURE__ */ operation('SquaredDifference');
export const staticReshape: OperationFunction<'StaticReshape'> = /* @__PURE__ */ operation('StaticReshape');
export const staticTranspose: OperationFunction<'StaticTranspose'> =
  /* @__PURE__ */ operation('StaticTranspose');
export const subtract: OperationFunction<'Subtract'> = /* @__PURE__ */ operation('Subtract');
export const take: OperationFunction<'Take'> = /* @__PURE__ */ operation('Take');
export const tanh: OperationFunction<'Tanh'> = /* @__PURE__ */ operation('Tanh');
export const tensorScatter: OperationFunction<'TensorScatter'> = /* @__PURE__ */ operation('TensorScatter');
export const topK: OperationFunction<'TopK'> = /* @__PURE__ */ operation('TopK');
export const typeCast: OperationFunction<'TypeCast'> = /* @__PURE__ */ operation('TypeCast');
export const where: OperationFunction<'Where'> = /* @__PURE__ */ operation('Where');
