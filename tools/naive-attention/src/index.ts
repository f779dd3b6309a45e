export type { NaivePass, NaiveShape, NaiveTensor } from './naive-attention.ts';
export { naiveAttention } from './naive-attention.ts';
