import { alongLastAxis, type OperationFunction, operation, reduction } from './operation-function.ts';

// One function per operation of the table; `OPERATIONS.md` lists inputs, attributes and dtypes. A test
// compares this list with the table, and `vitest -u` writes the comments from the table.

/** |x|. */
export const abs: OperationFunction<'Abs'> = /* @__PURE__ */ operation('Abs');
/** src_0 + src_1. */
export const add: OperationFunction<'Add'> = /* @__PURE__ */ operation('Add');
/**
 * The index of the largest element along an axis; of equal elements, the first. Not an operation of oneDNN.
 */
export const argmax: OperationFunction<'ArgMax'> = /* @__PURE__ */ operation('ArgMax');
/** Adds one bias to each channel. Channels are the last dimension for NXC, and dimension 1 for NCX. */
export const biasAdd: OperationFunction<'BiasAdd'> = /* @__PURE__ */ operation('BiasAdd');
/** src / divisor, broadcast to the shape of like. Not an operation of oneDNN. */
export const broadcastLike: OperationFunction<'BroadcastLike'> = /* @__PURE__ */ operation('BroadcastLike');
/** x clamped to [min, max]. */
export const clamp: OperationFunction<'Clamp'> = /* @__PURE__ */ operation('Clamp');
/** Cross-correlation of src (N, C, …) with weights (O, C / groups, …), plus a bias (O). */
export const convolution: OperationFunction<'Convolution'> = /* @__PURE__ */ operation('Convolution');
/** The cosine of x radians. Not an operation of oneDNN. */
export const cos: OperationFunction<'Cos'> = /* @__PURE__ */ operation('Cos');
/**
 * −ln softmax(logits)[label] of each row, for logits (…, C) and labels (…); 0 for the label ignoreIndex, NaN
 * for any other label outside [0, C). With labelSmoothing ε, the loss is (1 − ε) times this, plus ε times the
 * mean of −ln softmax(logits) over the classes, as in PyTorch. Not an operation of oneDNN.
 */
export const crossEntropy: OperationFunction<'CrossEntropy'> = /* @__PURE__ */ operation('CrossEntropy');
/**
 * The cumulative sums along an axis: of the elements up to each element, or, with `reverse`, from each
 * element on. `exclusive` leaves out the element itself. Takes n² additions. Not an operation of oneDNN.
 */
export const cumsum: OperationFunction<'CumSum'> = /* @__PURE__ */ operation('CumSum');
/** (x − zero point)·scale. */
export const dequantize: OperationFunction<'Dequantize'> = /* @__PURE__ */ operation('Dequantize');
/** src_0 / src_1. */
export const divide: OperationFunction<'Divide'> = /* @__PURE__ */ operation('Divide');
/**
 * src / (1 − p) with probability 1 − p, else 0. Philox decides from the seed, the offset and the index of the
 * element. p is the fourth input or the option.
 */
export const dropout: OperationFunction<'Dropout'> = /* @__PURE__ */ operation('Dropout');
/**
 * (x − zero point)·scale with scales and zero points from tensors: one, one per channel, or one per group.
 */
export const dynamicDequantize: OperationFunction<'DynamicDequantize'> =
  /* @__PURE__ */ operation('DynamicDequantize');
/** x / scale + zero point with scales and zero points from tensors. */
export const dynamicQuantize: OperationFunction<'DynamicQuantize'> =
  /* @__PURE__ */ operation('DynamicQuantize');
/** x where x > 0, else alpha·(eˣ − 1). */
export const elu: OperationFunction<'Elu'> = /* @__PURE__ */ operation('Elu');
/** True where src_0 = src_1. Not an operation of oneDNN. */
export const equal: OperationFunction<'Equal'> = /* @__PURE__ */ operation('Equal');
/** The error function 2/√π ∫₀ˣ e^(−t²) dt. Not an operation of oneDNN. */
export const erf: OperationFunction<'Erf'> = /* @__PURE__ */ operation('Erf');
/** eˣ. */
export const exp: OperationFunction<'Exp'> = /* @__PURE__ */ operation('Exp');
/** src, broadcast to the common shape of src and `shape`. Not an operation of oneDNN. */
export const expand: OperationFunction<'Expand'> = /* @__PURE__ */ operation('Expand');
/**
 * Row i of src, along the first dimension, for each index i; NaN for an index outside src. Not an operation
 * of oneDNN.
 */
export const gather: OperationFunction<'Gather'> = /* @__PURE__ */ operation('Gather');
/**
 * For each element of indices, the element of src with that index along an axis. An index outside the axis
 * reads the nearest element and has no gradient. Not an operation of oneDNN.
 */
export const gatherElements: OperationFunction<'GatherElements'> =
  /* @__PURE__ */ operation('GatherElements');
/**
 * x·Φ(x), where Φ is the normal distribution function (gelu_erf) or its approximation by tanh (gelu_tanh).
 */
export const gelu: OperationFunction<'GELU'> = /* @__PURE__ */ operation('GELU');
/** The index of every element of src along an axis. The values of src are not read. */
export const genIndex: OperationFunction<'GenIndex'> = /* @__PURE__ */ operation('GenIndex');
/** True where src_0 > src_1. Not an operation of oneDNN. */
export const greater: OperationFunction<'Greater'> = /* @__PURE__ */ operation('Greater');
/** True where src_0 ≥ src_1. */
export const greaterEqual: OperationFunction<'GreaterEqual'> = /* @__PURE__ */ operation('GreaterEqual');
/** alpha·x + beta, clamped to [0, 1]. */
export const hardSigmoid: OperationFunction<'HardSigmoid'> = /* @__PURE__ */ operation('HardSigmoid');
/** x·min(max(x + 3, 0), 6) / 6. */
export const hardSwish: OperationFunction<'HardSwish'> = /* @__PURE__ */ operation('HardSwish');
/** (x − mean) / √(variance + epsilon)·gamma + beta over the dimensions from beginNormAxis on. */
export const layerNorm: OperationFunction<'LayerNorm'> = /* @__PURE__ */ operation('LayerNorm');
/** x where x > 0, else alpha·x. */
export const leakyRelu: OperationFunction<'LeakyReLU'> = /* @__PURE__ */ operation('LeakyReLU');
/** True where src_0 < src_1. Not an operation of oneDNN. */
export const less: OperationFunction<'Less'> = /* @__PURE__ */ operation('Less');
/** True where src_0 ≤ src_1. Not an operation of oneDNN. */
export const lessEqual: OperationFunction<'LessEqual'> = /* @__PURE__ */ operation('LessEqual');
/** The natural logarithm. */
export const log: OperationFunction<'Log'> = /* @__PURE__ */ operation('Log');
/** True where src_0 and src_1 are both true. Not an operation of oneDNN. */
export const logicalAnd: OperationFunction<'LogicalAnd'> = /* @__PURE__ */ operation('LogicalAnd');
/** True where src is false. Not an operation of oneDNN. */
export const logicalNot: OperationFunction<'LogicalNot'> = /* @__PURE__ */ operation('LogicalNot');
/** True where at least one of src_0 and src_1 is true. Not an operation of oneDNN. */
export const logicalOr: OperationFunction<'LogicalOr'> = /* @__PURE__ */ operation('LogicalOr');
/** The logarithm of the softmax along an axis. */
export const logSoftmax: OperationFunction<'LogSoftmax'> = /* @__PURE__ */ operation('LogSoftmax');
/** src where cond is true (with invert: where it is false), else 0. Not an operation of oneDNN. */
export const mask: OperationFunction<'Mask'> = /* @__PURE__ */ operation('Mask');
/**
 * The matrix product over the last two dimensions; the other dimensions broadcast. A tensor of rank 1 is a
 * row if it is src and a column if it is weights.
 */
export const matmul: OperationFunction<'MatMul'> = /* @__PURE__ */ operation('MatMul');
/** The larger of src_0 and src_1. */
export const maximum: OperationFunction<'Maximum'> = /* @__PURE__ */ operation('Maximum');
/** The smaller of src_0 and src_1. */
export const minimum: OperationFunction<'Minimum'> = /* @__PURE__ */ operation('Minimum');
/** x·tanh(ln(1 + eˣ)). */
export const mish: OperationFunction<'Mish'> = /* @__PURE__ */ operation('Mish');
/** src_0 · src_1. */
export const multiply: OperationFunction<'Multiply'> = /* @__PURE__ */ operation('Multiply');
/** −x. Not an operation of oneDNN. */
export const neg: OperationFunction<'Neg'> = /* @__PURE__ */ operation('Neg');
/** True where src_0 ≠ src_1. Not an operation of oneDNN. */
export const notEqual: OperationFunction<'NotEqual'> = /* @__PURE__ */ operation('NotEqual');
/**
 * src padded with a value: `before` and `after` give the number of added elements on each side of each
 * dimension. Not an operation of oneDNN.
 */
export const pad: OperationFunction<'Pad'> = /* @__PURE__ */ operation('Pad');
/** x to the power beta. */
export const pow: OperationFunction<'Pow'> = /* @__PURE__ */ operation('Pow');
/**
 * src_0 to the power src_1. A negative src_0 is valid only with integral exponents. Not an operation of
 * oneDNN.
 */
export const power: OperationFunction<'Power'> = /* @__PURE__ */ operation('Power');
/** x / scale + zero point, rounded to nearest even and saturated. */
export const quantize: OperationFunction<'Quantize'> = /* @__PURE__ */ operation('Quantize');
/** 1 / x. */
export const reciprocal: OperationFunction<'Reciprocal'> = /* @__PURE__ */ operation('Reciprocal');
/** The sum of |x| over axes, by default all. */
export const reduceL1: OperationFunction<'ReduceL1'> = /* @__PURE__ */ reduction('ReduceL1');
/** √Σx² over axes, by default all. */
export const reduceL2: OperationFunction<'ReduceL2'> = /* @__PURE__ */ reduction('ReduceL2');
/** The largest element over axes, by default all. */
export const reduceMax: OperationFunction<'ReduceMax'> = /* @__PURE__ */ reduction('ReduceMax');
/** The mean over axes, by default all. */
export const reduceMean: OperationFunction<'ReduceMean'> = /* @__PURE__ */ reduction('ReduceMean');
/** The smallest element over axes, by default all. */
export const reduceMin: OperationFunction<'ReduceMin'> = /* @__PURE__ */ reduction('ReduceMin');
/** The product over axes, by default all. */
export const reduceProd: OperationFunction<'ReduceProd'> = /* @__PURE__ */ reduction('ReduceProd');
/** The sum over axes, by default all. */
export const reduceSum: OperationFunction<'ReduceSum'> = /* @__PURE__ */ reduction('ReduceSum');
/** max(x, 0). */
export const relu: OperationFunction<'ReLU'> = /* @__PURE__ */ operation('ReLU');
/** The tensor in the memory layout of the output. */
export const reorder: OperationFunction<'Reorder'> = /* @__PURE__ */ operation('Reorder');
/**
 * x / √(mean of x² + epsilon)·gamma over the dimensions from beginNormAxis on. Not an operation of oneDNN.
 */
export const rmsNorm: OperationFunction<'RMSNorm'> = /* @__PURE__ */ operation('RMSNorm');
/**
 * Random numbers in the shape of src. BERNOULLI: 1 with probability 1 − p, else 0. UNIFORM: uniform in (0,
 * 1], like cuRAND. Not an operation of oneDNN.
 */
export const rng: OperationFunction<'RNG'> = /* @__PURE__ */ operation('RNG');
/**
 * Rotates pairs (a, b) of the last dimension to (a·cos − b·sin, b·cos + a·sin): pairs of neighbours with
 * `interleaved`, else elements i and i + R/2. The tables cos and sin, of shape (…, R/2), broadcast to src.
 * Elements from R on are copied. `inverse` rotates back.
 */
export const rotaryEmbedding: OperationFunction<'RotaryEmbedding'> =
  /* @__PURE__ */ operation('RotaryEmbedding');
/** x rounded to the nearest integer, ties to even. */
export const round: OperationFunction<'Round'> = /* @__PURE__ */ operation('Round');
/**
 * src with each element of updates added to the element that its index along an axis names. With the
 * reduction none, the update replaces that element, and the last of several updates wins. An update whose
 * index is outside the axis is ignored. Not an operation of oneDNN.
 */
export const scatterElements: OperationFunction<'ScatterElements'> =
  /* @__PURE__ */ operation('ScatterElements');
/**
 * src_0 where cond is true, else src_1. src_0 and src_1 broadcast to each other, and cond broadcasts to their
 * shape.
 */
export const select: OperationFunction<'Select'> = /* @__PURE__ */ operation('Select');
/** 1 / (1 + e^(−x)). */
export const sigmoid: OperationFunction<'Sigmoid'> = /* @__PURE__ */ operation('Sigmoid');
/** x / (1 + e^(−x)), also called swish. Not an operation of oneDNN. */
export const silu: OperationFunction<'SiLU'> = /* @__PURE__ */ operation('SiLU');
/** The sine of x radians. Not an operation of oneDNN. */
export const sin: OperationFunction<'Sin'> = /* @__PURE__ */ operation('Sin');
/** The `size` elements start, start + step, … along an axis. Not an operation of oneDNN. */
export const slice: OperationFunction<'Slice'> = /* @__PURE__ */ operation('Slice');
/**
 * e^(x − max) / Σ e^(x − max) along an axis, by default the last. A row of −∞ gives NaN, or, with the mode
 * 'inf_as_zero', 0.
 */
export const softmax: OperationFunction<'SoftMax'> = /* @__PURE__ */ operation('SoftMax', alongLastAxis);
/** ln(1 + e^(beta·x)) / beta. */
export const softplus: OperationFunction<'SoftPlus'> = /* @__PURE__ */ operation('SoftPlus');
/** √x. */
export const sqrt: OperationFunction<'Sqrt'> = /* @__PURE__ */ operation('Sqrt');
/** x². */
export const square: OperationFunction<'Square'> = /* @__PURE__ */ operation('Square');
/** (src_0 − src_1)². */
export const squaredDifference: OperationFunction<'SquaredDifference'> =
  /* @__PURE__ */ operation('SquaredDifference');
/**
 * The elements of src in row-major order with another shape. One extent may be −1 and is inferred; with
 * specialZero, an extent of 0 keeps the extent of src.
 */
export const staticReshape: OperationFunction<'StaticReshape'> = /* @__PURE__ */ operation('StaticReshape');
/**
 * src with its dimensions in another order: dimension d of dst is dimension order[d] of src. An empty order
 * reverses all dimensions.
 */
export const staticTranspose: OperationFunction<'StaticTranspose'> =
  /* @__PURE__ */ operation('StaticTranspose');
/** src_0 − src_1. */
export const subtract: OperationFunction<'Subtract'> = /* @__PURE__ */ operation('Subtract');
/**
 * The slices of src at `indices` along an axis. The dimensions of indices replace the axis. Negative indices
 * count from the end; an index outside the axis reads the nearest slice and has no gradient. Not an operation
 * of oneDNN.
 */
export const take: OperationFunction<'Take'> = /* @__PURE__ */ operation('Take');
/** The hyperbolic tangent. */
export const tanh: OperationFunction<'Tanh'> = /* @__PURE__ */ operation('Tanh');
/**
 * past with update written into it along an axis: entry b of the first dimension starts at element first[b].
 * Elements that would be outside past are dropped. If present is bound to the memory of past, only update is
 * written, so that a cache grows in place. Not an operation of oneDNN.
 */
export const tensorScatter: OperationFunction<'TensorScatter'> = /* @__PURE__ */ operation('TensorScatter');
/**
 * The k largest elements along an axis in descending order, and their indices; equal elements keep their
 * order. Takes k passes. Not an operation of oneDNN.
 */
export const topK: OperationFunction<'TopK'> = /* @__PURE__ */ operation('TopK');
/**
 * The values in another dtype: floats are rounded to nearest even; integers are rounded towards 0 and
 * saturated; as a bool, everything but 0 is 1.
 */
export const typeCast: OperationFunction<'TypeCast'> = /* @__PURE__ */ operation('TypeCast');
/** src_0 where cond is true, else src_1. All three broadcast to each other. Not an operation of oneDNN. */
export const where: OperationFunction<'Where'> = /* @__PURE__ */ operation('Where');
