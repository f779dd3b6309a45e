export type * from './arguments.ts';
export type { CudnnOptions } from './options.ts';
export { cudnnOptions } from './options.ts';
export type { SdpaBackwardNode, SdpaNode } from './sdpa.ts';
export { sdpa, sdpaBackward } from './sdpa.ts';
export type { D256Gradients, D256Options, D256Tensors } from './sdpa-backward-d256.ts';
export { d256Window, SdpaBackwardD256, sdpaBackwardD256 } from './sdpa-backward-d256.ts';
export type { SdpaFp8BackwardNode, SdpaFp8Node } from './sdpa-fp8.ts';
export { sdpaFp8, sdpaFp8Backward } from './sdpa-fp8.ts';
