import type { OperationKind } from './table.ts';

/**
 * What each operation computes, for documentation. The table of operations does not hold these sentences, so
 * that programs that only run operations do not load them.
 */
export const operationSummaries: Readonly<Record<OperationKind, string>> = {
  MatMul:
    'The matrix product over the last two dimensions; the other dimensions broadcast. A tensor of rank 1 is a row if it is src and a column if it is weights.',
  Add: 'src_0 + src_1.',
  Subtract: 'src_0 − src_1.',
  Multiply: 'src_0 · src_1.',
  Divide: 'src_0 / src_1.',
  Maximum: 'The larger of src_0 and src_1.',
  Minimum: 'The smaller of src_0 and src_1.',
  Power:
    'src_0 to the power src_1. A negative src_0 is valid only with integral exponents. Not an operation of oneDNN.',
  SquaredDifference: '(src_0 − src_1)².',
  MaximumBackward:
    'The gradient of Maximum(src, other) with respect to src: half of diff_dst where both are equal. Not an operation of oneDNN.',
  MinimumBackward:
    'The gradient of Minimum(src, other) with respect to src: half of diff_dst where both are equal. Not an operation of oneDNN.',
  BiasAdd: 'Adds one bias to each channel. Channels are the last dimension for NXC, and dimension 1 for NCX.',
  Select:
    'src_0 where cond is true, else src_1. src_0 and src_1 broadcast to each other, and cond broadcasts to their shape.',
  Mask: 'src where cond is true (with invert: where it is false), else 0. Not an operation of oneDNN.',
  Where:
    'src_0 where cond is true, else src_1. All three broadcast to each other. Not an operation of oneDNN.',
  Constant:
    'A tensor with the numbers of the attribute `value`, in row-major order; a single number fills the shape. Not an operation of oneDNN.',
  GenIndex: 'The index of every element of src along an axis. The values of src are not read.',
  Abs: '|x|.',
  AbsBackward: 'The gradient of Abs with respect to src, from src and the gradient of the result.',
  Cos: 'The cosine of x radians. Not an operation of oneDNN.',
  CosBackward: 'The gradient of Cos with respect to src, from src and the gradient of the result.',
  Clamp: 'x clamped to [min, max].',
  ClampBackward: 'The gradient of Clamp with respect to src, from src and the gradient of the result.',
  Elu: 'x where x > 0, else alpha·(eˣ − 1).',
  EluBackward: 'The gradient of Elu with respect to src, from src and the gradient of the result.',
  Erf: 'The error function 2/√π ∫₀ˣ e^(−t²) dt. Not an operation of oneDNN.',
  ErfBackward: 'The gradient of Erf with respect to src, from src and the gradient of the result.',
  Exp: 'eˣ.',
  ExpBackward: 'The gradient of Exp with respect to src, from src and the gradient of the result.',
  GELU: 'x·Φ(x), where Φ is the normal distribution function (gelu_erf) or its approximation by tanh (gelu_tanh).',
  GELUBackward: 'The gradient of GELU with respect to src, from src and the gradient of the result.',
  HardSigmoid: 'alpha·x + beta, clamped to [0, 1].',
  HardSigmoidBackward:
    'The gradient of HardSigmoid with respect to src, from src and the gradient of the result.',
  HardSwish: 'x·min(max(x + 3, 0), 6) / 6.',
  HardSwishBackward:
    'The gradient of HardSwish with respect to src, from src and the gradient of the result.',
  LeakyReLU: 'x where x > 0, else alpha·x.',
  LeakyReLUBackward:
    'The gradient of LeakyReLU with respect to src, from src and the gradient of the result.',
  Log: 'The natural logarithm.',
  LogBackward: 'The gradient of Log with respect to src, from src and the gradient of the result.',
  Mish: 'x·tanh(ln(1 + eˣ)).',
  MishBackward: 'The gradient of Mish with respect to src, from src and the gradient of the result.',
  Pow: 'x to the power beta.',
  PowBackward: 'The gradient of Pow with respect to src, from src and the gradient of the result.',
  Neg: '−x. Not an operation of oneDNN.',
  NegBackward: 'The gradient of Neg with respect to src, from src and the gradient of the result.',
  ReLU: 'max(x, 0).',
  ReLUBackward: 'The gradient of ReLU with respect to src, from src and the gradient of the result.',
  Reciprocal: '1 / x.',
  ReciprocalBackward:
    'The gradient of Reciprocal with respect to src, from src and the gradient of the result.',
  Round: 'x rounded to the nearest integer, halves to even.',
  RoundBackward: 'The gradient of Round with respect to src, from src and the gradient of the result.',
  SiLU: 'x / (1 + e^(−x)), also called swish. Not an operation of oneDNN.',
  SiLUBackward: 'The gradient of SiLU with respect to src, from src and the gradient of the result.',
  Sigmoid: '1 / (1 + e^(−x)).',
  SigmoidBackward: 'The gradient of Sigmoid with respect to src, from src and the gradient of the result.',
  Sin: 'The sine of x radians. Not an operation of oneDNN.',
  SinBackward: 'The gradient of Sin with respect to src, from src and the gradient of the result.',
  SoftPlus: 'ln(1 + e^(beta·x)) / beta.',
  SoftPlusBackward: 'The gradient of SoftPlus with respect to src, from src and the gradient of the result.',
  Sqrt: '√x.',
  SqrtBackward: 'The gradient of Sqrt with respect to src, from src and the gradient of the result.',
  Square: 'x².',
  SquareBackward: 'The gradient of Square with respect to src, from src and the gradient of the result.',
  Tanh: 'The hyperbolic tangent.',
  TanhBackward: 'The gradient of Tanh with respect to src, from src and the gradient of the result.',
  SoftMax:
    'e^(x − max) / Σ e^(x − max) along an axis; stats are max + ln Σ e^(x − max). For a row of −∞ both are NaN, or, with inf_as_zero, 0.',
  LogSoftmax: 'The logarithm of the softmax along an axis.',
  SoftMaxBackward: 'The gradient of SoftMax from its result: dst·(diff_dst − Σ dst·diff_dst) along an axis.',
  LogSoftmaxBackward:
    'The gradient of LogSoftmax from its result: diff_dst − e^dst·Σ diff_dst along an axis.',
  ReduceSum: 'The sum over axes.',
  ReduceMax: 'The largest element over axes.',
  ReduceMin: 'The smallest element over axes.',
  ReduceProd: 'The product over axes.',
  ReduceMean: 'The mean over axes.',
  ReduceL1: 'The sum of |x| over axes.',
  ReduceL2: '√Σx² over axes.',
  ReduceMaxBackward:
    'The gradient of ReduceMax with respect to src; equal maxima share it equally. dst and diff_dst have extents of 1 along the reduced axes. Not an operation of oneDNN.',
  ReduceMinBackward:
    'The gradient of ReduceMin with respect to src; equal minima share it equally. dst and diff_dst have extents of 1 along the reduced axes. Not an operation of oneDNN.',
  ReduceProdBackward:
    'The gradient of ReduceProd with respect to src: diff_dst times the product of the other elements, even if some are 0. dst and diff_dst have extents of 1 along the reduced axes. Not an operation of oneDNN.',
  ReduceL2Backward:
    'The gradient of ReduceL2 with respect to src: diff_dst·src / dst, and 0 where all elements are 0. dst and diff_dst have extents of 1 along the reduced axes. Not an operation of oneDNN.',
  BroadcastLike: 'src / divisor, broadcast to the shape of like. Not an operation of oneDNN.',
  TypeCast:
    'The values in another dtype: floats are rounded to nearest even; integers are rounded towards 0 and saturated; as a truth value, everything but 0 is 1.',
  Reorder: 'The tensor in the memory layout of the output.',
  StaticTranspose:
    'src with its dimensions in another order: dimension d of dst is dimension order[d] of src. An empty order reverses all dimensions.',
  StaticReshape:
    'The elements of src in row-major order with another shape. One extent may be −1 and is inferred; with special_zero, an extent of 0 keeps the extent of src.',
  Expand: 'src, broadcast to the common shape of src and `shape`. Not an operation of oneDNN.',
  Dropout:
    'src / (1 − p) with probability 1 − p, else 0. Philox decides from the seed, the offset and the index of the element. p is the fourth input or the attribute.',
  RNG: 'Random numbers in the shape of src. BERNOULLI: 1 with probability 1 − p, else 0. UNIFORM: uniform in (0, 1], like cuRAND. Not an operation of oneDNN.',
  Quantize: 'x / scale + zero point, rounded to nearest even and saturated.',
  Dequantize: '(x − zero point)·scale.',
  DynamicQuantize: 'x / scale + zero point with scales and zero points from tensors.',
  DynamicDequantize:
    '(x − zero point)·scale with scales and zero points from tensors: one, one per channel, or one per group.',
  LayerNorm:
    '(x − mean) / √(variance + epsilon)·gamma + beta over the dimensions from begin_norm_axis on. With keep_stats, mean and variance are results too.',
  LayerNormBackward: 'The gradient of LayerNorm with respect to src.',
  RMSNorm:
    'x / √(mean of x² + epsilon)·gamma over the dimensions from begin_norm_axis on. Not an operation of oneDNN.',
  RMSNormBackward: 'The gradient of RMSNorm with respect to src.',
  Gather:
    'Row i of src, along the first dimension, for each index i; NaN for an index outside src. Not an operation of oneDNN.',
  GatherBackward:
    'The gradient of Gather with respect to src: for each of `rows` rows, the sum of the rows of diff_dst whose index names it. Indices outside src add nothing.',
  Take: 'The slices of src at `indices` along an axis. The dimensions of indices replace the axis. Negative indices count from the end; an index outside the axis reads the nearest slice and has no gradient. Not an operation of oneDNN.',
  CrossEntropy:
    '−ln softmax(logits)[label] of each row, for logits (…, C) and labels (…); 0 for the label ignore_index, NaN for any other label outside [0, C). With label_smoothing ε, the loss is (1 − ε) times this, plus ε times the mean of −ln softmax(logits) over the classes, as in PyTorch. Not an operation of oneDNN.',
  CrossEntropyBackward:
    'The gradient of CrossEntropy with respect to logits: (softmax(logits) − ε/C − (1 − ε at the label))·diff_loss of the row; 0 for the label ignore_index, NaN for any other label outside [0, C).',
  Sdpa: 'Attention. `operands` and `results` name the inputs and outputs as `sdpa` does; lse, max and sumExp are (B, Hq, Sq, 1). Not an operation of oneDNN.',
  SdpaBackward:
    'The gradients of Sdpa, from its operands, o, lse and dO, named in the same way. Not an operation of oneDNN.',
  Convolution: 'Cross-correlation of src (N, C, …) with weights (O, C / groups, …), plus a bias (O).',
  ConvolutionBackwardData: 'The gradient of Convolution with respect to src, in the shape `shape`.',
  ConvolutionBackwardWeights:
    'The gradient of Convolution with respect to the weights, in the shape `shape`.',
  Greater: 'Whether src_0 > src_1. Not an operation of oneDNN.',
  GreaterEqual: 'Whether src_0 ≥ src_1.',
  Less: 'Whether src_0 < src_1. Not an operation of oneDNN.',
  LessEqual: 'Whether src_0 ≤ src_1. Not an operation of oneDNN.',
  Equal: 'Whether src_0 = src_1. Not an operation of oneDNN.',
  NotEqual: 'Whether src_0 ≠ src_1. Not an operation of oneDNN.',
  LogicalAnd: 'Whether src_0 and src_1 are both true. Not an operation of oneDNN.',
  LogicalOr: 'Whether at least one of src_0 and src_1 is true. Not an operation of oneDNN.',
  LogicalNot: 'Whether src is false. Not an operation of oneDNN.',
  RotaryEmbedding:
    'Rotates pairs (a, b) of the last dimension to (a·cos − b·sin, b·cos + a·sin): pairs of neighbours with `interleaved`, else elements i and i + R/2. The tables cos and sin, of shape (…, R/2), broadcast to src. Elements from R on are copied. `inverse` rotates back.',
  Concat: 'The tensors concatenated along an axis.',
  Split: 'src split along an axis into parts of the given sizes.',
  GatherElements:
    'For each element of indices, the element of src with that index along an axis. An index outside the axis reads the nearest element and has no gradient. Not an operation of oneDNN.',
  ScatterElements:
    'src with each element of updates added to the element that its index along an axis names. With the reduction none, the update replaces that element, and the last of several updates wins. An update whose index is outside the axis is ignored. Not an operation of oneDNN.',
  Slice: 'The `size` elements start, start + step, … along an axis. Not an operation of oneDNN.',
  SliceBackward:
    'The gradient of Slice with respect to src: diff_dst for the elements in the slice, 0 for the others. `extent` is the extent of src along the axis.',
  Pad: 'src padded with a value: `before` and `after` give the number of added elements on each side of each dimension. Not an operation of oneDNN.',
  TensorScatter:
    'past with update written into it along an axis: entry b of the first dimension starts at element first[b]. Elements that would be outside past are dropped. If present is bound to the memory of past, only update is written, so that a cache grows in place. Not an operation of oneDNN.',
  ArgMax:
    'The index of the largest element along an axis; of equal elements, the first. Not an operation of oneDNN.',
  TopK: 'The k largest elements along an axis in descending order, and their indices; equal elements keep their order. Takes k passes. Not an operation of oneDNN.',
  CumSum:
    'The cumulative sums along an axis: of the elements up to each element, or, with `reverse`, from each element on. `exclusive` leaves out the element itself. Takes n² additions. Not an operation of oneDNN.',
  End: 'Marks a tensor as a result even if other operations read it.',
  Wildcard: 'Stands for a framework operation that this library does not know; a Wildcard cannot run.',
};
