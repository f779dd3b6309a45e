export * from './build.ts';
export * from './check.ts';
export * from './evaluate.ts';
export type * from './expr.ts';
export * from './host-loaders.ts';
export * from './mask-mods.ts';
export * from './mod.ts';
export * from './nodes.ts';
export * from './score-mods.ts';
