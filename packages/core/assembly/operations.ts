export * from './vector/lanes';
export { addLineProducts, multiplyLines } from './products/matvec';
export { packColumns, packRows } from './products/pack';
export * from './products/panels';
export { drawBernoulli } from './random/bernoulli';
export * from './scatter';
