export type * from './arguments/arguments.ts';
export { type CudnnOptions, cudnnOptions } from './arguments/options.ts';
export type { D256Gradients, D256Options, D256Tensors } from './d256/call.ts';
export { d256Window } from './d256/graph.ts';
export { SdpaBackwardD256, sdpaBackwardD256 } from './d256/sdpa-backward.ts';
export { type SdpaBackwardNode, type SdpaNode, sdpa, sdpaBackward } from './sdpa.ts';
export { type SdpaFp8BackwardNode, type SdpaFp8Node, sdpaFp8, sdpaFp8Backward } from './sdpa-fp8.ts';
