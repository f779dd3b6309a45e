export type { DropoutSchemeName, U64 as U64Words } from '@tilewise/philox';
export { CallTree } from './attention/call/call-tree.ts';
export {
  normalise,
  normaliseBackward,
  normaliseBackwardCall,
  normaliseCall,
} from './attention/call/normalise.ts';
export { type Fp8Readers, fp8Readers, type OptionReaders } from './attention/call/option-readers.ts';
export { type Cost, cost, type Work } from './attention/cost.ts';
export type { VisibilityOperands } from './attention/host/visibility.ts';
export { checkPartials, mergePartials, type PartialAttention } from './attention/merge-partials.ts';
export { checkLayout } from './attention/operands/check-layout.ts';
export { fp8OperandTable, mxfp8OperandTable, mxfp8Shape } from './attention/operands/fp8-table.ts';
export { operandLayout, rowsFootprint } from './attention/operands/layouts.ts';
export type * from './attention/operands/operand.ts';
export { operandLayouts, operandTable, raggedNames, sideOf } from './attention/operands/table.ts';
export { standardSlopes } from './attention/options/alibi.ts';
export { bandOf } from './attention/options/band.ts';
export { nearestName } from './attention/options/nearest-name.ts';
export type * from './attention/options/options.ts';
export {
  callerShape,
  contiguousDesc,
  describeDense,
  describeTokens,
  rowShape,
} from './attention/problem/describe.ts';
export type { FormatP, Fp8ScalarName, Fp8Scalars, Fp8Step, Fp8StepName } from './attention/problem/fp8.ts';
export { formatPRange, fp8AmaxNames, fp8ScalarNames, fp8Steps } from './attention/problem/fp8.ts';
export { type Mxfp8Operand, type Mxfp8OperandName, mxfp8Operands } from './attention/problem/mxfp8.ts';
export type * from './attention/problem/problem.ts';
export { BLOCK_MASK_TILE } from './attention/problem/problem.ts';
export { backwardRules, validateBackward } from './attention/rules/backward-rules.ts';
export { checkProblem } from './attention/rules/check-problem.ts';
export { type DataChecks, dataChecks } from './attention/rules/data-rules.ts';
export { forwardRules, validate } from './attention/rules/forward-rules.ts';
export { fp8ForwardRules } from './attention/rules/fp8-rules.ts';
export { checkBackwardProblem, checkForwardProblem } from './attention/rules/problem-schema.ts';
export { checkRules, type Rule, type RuleKind } from './attention/rules/rule.ts';
export type * from './engine/engine.ts';
export * from './errors.ts';
export type { MaskModVariables, Mod, ScoreModVariables } from './expr/mods/mod.ts';
export type * from './expr/nodes/expr.ts';
export * from './layout/index.ts';
export { type BlockAxis, type BlockScaleLayout, blockScaleShape, MXFP8_BLOCK } from './mxfp8/block-scales.ts';
export { dequantiseMxfp8, type Mxfp8DType, type Mxfp8Tensor, quantiseMxfp8 } from './mxfp8/quantise.ts';
export { checkStorage } from './tensor/checks/check-storage.ts';
export { checkNoOverlap, checkShape } from './tensor/checks/check-tensor.ts';
export { copyTensor } from './tensor/copy.ts';
export { decodeArray, encodeArray } from './tensor/dtype/convert.ts';
export { type DType, type DTypeInfo, dtypeInfo, isDType, type TypedArray } from './tensor/dtype/dtype.ts';
export { type DTypeTraits, dtypeTraits } from './tensor/dtype/dtype-traits.ts';
export { bfloat16, type FloatFormat, float8e4m3, float8e5m2, float16 } from './tensor/dtype/float-format.ts';
export * from './tensor/dtype/float-layout.ts';
export { type HostArray, isHostArray, numberAt } from './tensor/host-array.ts';
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
export {
  bytesSpanned,
  checkDesc,
  copiedDesc,
  listText,
  type PartialDesc,
  type TensorDesc,
} from './tensor/tensor-desc.ts';
export { reshapedStrides } from './tensor/views.ts';
