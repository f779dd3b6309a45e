export * from './dense.ts';
export * from './interleaved.ts';
export * from './lengths.ts';
export * from './packed.ts';
export * from './paged.ts';
