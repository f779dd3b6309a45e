export { sdpaBackwardFloat64 } from './backward.ts';
export { referenceEngine } from './engine.ts';
export type { Float64Tensor } from './float64-tensor.ts';
export { type ForwardFloat64, sdpaFloat64 } from './forward.ts';
export type { BackwardInputsFloat64 } from './forward-results.ts';
export type { BackwardFloat64 } from './gradients.ts';
export { sdpa, sdpaBackward } from './sdpa.ts';
