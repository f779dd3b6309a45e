export { type AttentionOptions, attention } from './attention.ts';
export { type AfterOperation, callGraph } from './call-graph.ts';
export type { CompiledFunction, Results, Spec, Specs, Traceable, TracedGraph } from './compile.ts';
export { compile, evalShape, traceGraph } from './compile.ts';
export { grad, gradientsOf, recompute, valueAndGrad } from './gradients.ts';
export type { OperationFunction, OptionsOf } from './operation-function.ts';
export * from './operations.ts';
export { concat, constant, reshape, split, transpose } from './shaping.ts';
export { type Operand, Variable } from './trace.ts';
