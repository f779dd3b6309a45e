export type { ExportOptions } from '../python/options.ts';
export type { Role } from '../python/tensors/axes.ts';
export { toJax } from './to-jax.ts';
