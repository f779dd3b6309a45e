export { philox2x32 } from './block/block2x32.ts';
export { philox4x32, philox4x32Into, type U32x2, type U32x4 } from './block/block4x32.ts';
export { philox2x64, philox4x64, type U64x2, type U64x4 } from './block/block64.ts';
export type { Dropout, DropoutMaskOptions, DropoutOptions } from './dropout/dropout.ts';
export { createDropout, dropoutMask, dropoutOffsetIncrement } from './dropout/dropout.ts';
export type { DropoutSource } from './dropout/options.ts';
export { checkSchemeProbability, dropoutRules, dropoutSchemeNames } from './dropout/rules.ts';
export type {
  DropoutDraw,
  DropoutRule,
  DropoutScheme,
  DropoutSchemeName,
  DropoutShape,
  KeepDecider,
} from './dropout/scheme.ts';
export { dropoutSchemes } from './dropout/schemes.ts';
export { fillBernoulli, fillNormal, fillU32, fillUniform } from './stream/fill.ts';
export { normalPairFromWords } from './stream/normal.ts';
export { PhiloxStream } from './stream/stream.ts';
export type { StreamOptions } from './stream/stream-address.ts';
export { firstWordAbove, firstWordAtLeast, uniformFromWord } from './stream/uniform.ts';
export { joinU64, splitU64, toU64, type U64, type Uint } from './u64.ts';
