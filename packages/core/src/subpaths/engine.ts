export { CallTree } from '../attention/call/call-tree.ts';
export { normaliseBackwardCall, normaliseCall } from '../attention/call/normalise.ts';
export { type Fp8Readers, fp8Readers, type OptionReaders } from '../attention/call/option-readers.ts';
export { checkPartials } from '../attention/merge-partials.ts';
export { checkLayout } from '../attention/operands/check-layout.ts';
export { fp8OperandTable, mxfp8OperandTable, mxfp8Shape } from '../attention/operands/fp8-table.ts';
export { operandLayout, rowsFootprint } from '../attention/operands/layouts.ts';
export type * from '../attention/operands/operand.ts';
export { operandLayouts, operandTable, raggedNames, sideOf } from '../attention/operands/table.ts';
export { bandOf } from '../attention/options/band.ts';
export { callerShape, contiguousDesc, rowShape } from '../attention/problem/describe.ts';
export {
  type Fp8Step,
  type Fp8StepName,
  formatPRange,
  fp8AmaxNames,
  fp8Steps,
} from '../attention/problem/fp8.ts';
export { BLOCK_MASK_TILE } from '../attention/problem/limits.ts';
export { type Mxfp8Operand, type Mxfp8OperandName, mxfp8Operands } from '../attention/problem/mxfp8.ts';
export { backwardRules } from '../attention/rules/backward-rules.ts';
export { checkProblem } from '../attention/rules/check-problem.ts';
export { type DataChecks, dataChecks } from '../attention/rules/data-rules.ts';
export { forwardRules } from '../attention/rules/forward-rules.ts';
export { fp8ForwardRules } from '../attention/rules/fp8-rules.ts';
export { checkBackwardProblem, checkForwardProblem } from '../attention/rules/problem-schema.ts';
export { checkRules, type Rule, type RuleKind } from '../attention/rules/rule.ts';
export type { WorkTrace } from '../engine/work-trace.ts';
export { checkStorage } from '../tensor/checks/check-storage.ts';
export { checkNoOverlap, checkShape } from '../tensor/checks/check-tensor.ts';
export { type DTypeTraits, dtypeTraits } from '../tensor/dtype/dtype-traits.ts';
export * from '../tensor/dtype/float-layout.ts';
export { type HostArray, isHostArray, numberAt } from '../tensor/host-array.ts';
export { checkDesc, copiedDesc } from '../tensor/tensor-desc.ts';
export { reshapedStrides } from '../tensor/views.ts';
