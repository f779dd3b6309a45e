export * from './backward.ts';
export * from './engine.ts';
export type { Float64Tensor } from './float64-tensor.ts';
export * from './forward.ts';
export * from './sdpa.ts';
