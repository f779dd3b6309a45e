export type { Lengths } from './cumulative-lengths.ts';
export { cumulativeLengths, lengthsFromCumulative } from './cumulative-lengths.ts';
export * from './dense.ts';
export * from './interleaved.ts';
export * from './packed.ts';
export * from './paged.ts';
