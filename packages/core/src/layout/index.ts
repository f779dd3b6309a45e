export { cumulativeLengths, type Lengths, lengthsFromCumulative } from './cumulative-lengths.ts';
export * from './dense.ts';
export * from './interleaved.ts';
export * from './packed.ts';
export * from './paged.ts';
