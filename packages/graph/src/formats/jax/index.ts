export type { Role } from '../python/axes.ts';
export type { ExportOptions } from '../python/options.ts';
export { toJax } from './to-jax.ts';
