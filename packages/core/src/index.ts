export * from './attention/options.ts';
export * from './attention/problem.ts';
export * from './errors.ts';
export type * from './expr/expr.ts';
export type * from './expr/mod.ts';
export * from './tensor/dtype.ts';
export * from './tensor/float-format.ts';
export * from './tensor/shape.ts';
export * from './tensor/tensor.ts';
