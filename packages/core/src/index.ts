export type { DropoutSchemeName, U64 as U64Words } from '@tilewise/philox';
export { normalise, normaliseBackward } from './attention/call/normalise.ts';
export { type Cost, cost, type Work } from './attention/cost.ts';
export { mergePartials, type PartialAttention } from './attention/merge-partials.ts';
export { standardSlopes } from './attention/options/alibi.ts';
export { nearestName } from './attention/options/nearest-name.ts';
export type * from './attention/options/options.ts';
export { describeDense, describeTokens } from './attention/problem/describe.ts';
export type { FormatP, Fp8ScalarName, Fp8Scalars } from './attention/problem/fp8.ts';
export { fp8ScalarNames } from './attention/problem/fp8.ts';
export type * from './attention/problem/problem.ts';
export { validateBackward } from './attention/rules/backward-rules.ts';
export { validate } from './attention/rules/forward-rules.ts';
export type * from './engine/engine.ts';
export * from './errors.ts';
export type { MaskModVariables, Mod, ScoreModVariables } from './expr/mods/mod.ts';
export type * from './expr/nodes/expr.ts';
export * from './layout/index.ts';
export { type BlockAxis, type BlockScaleLayout, blockScaleShape, MXFP8_BLOCK } from './mxfp8/block-scales.ts';
export { dequantiseMxfp8, type Mxfp8DType, type Mxfp8Tensor, quantiseMxfp8 } from './mxfp8/quantise.ts';
export { copyTensor } from './tensor/copy.ts';
export { decodeArray, encodeArray } from './tensor/dtype/convert.ts';
export { type DType, type DTypeInfo, dtypeInfo, isDType, type TypedArray } from './tensor/dtype/dtype.ts';
export { bfloat16, type FloatFormat, float8e4m3, float8e5m2, float16 } from './tensor/dtype/float-format.ts';
export { encodeSafetensors, type NamedTensors, writeSafetensors } from './tensor/safetensors.ts';
export type { Shape, StridedShape, Strides } from './tensor/shape.ts';
export {
  contiguousStrides,
  elementCount,
  elementsSpanned,
  isContiguous,
  isOverlapping,
  maxOffset,
  sameShape,
} from './tensor/shape.ts';
export { Tensor } from './tensor/tensor.ts';
export { bytesSpanned, listText, type PartialDesc, type TensorDesc } from './tensor/tensor-desc.ts';
