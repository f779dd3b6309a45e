import { dropoutMask, dropoutSchemes, philox2x32, philox4x32 } from '@tilewise/philox';
import { atPhiloxEngine } from '@tilewise/philox/interop';
import type { Generator } from './generator.ts';

/** The TypeScript of `@tilewise/philox`. */
export const hostGenerator: Generator = {
  isHost: true,
  block4x32: async ([c0, c1, c2, c3], [k0, k1], rounds) => philox4x32([c0, c1, c2, c3], [k0, k1], rounds),
  block2x32: async ([c0, c1], key, rounds) => philox2x32([c0, c1], key, rounds),
  stream: async ({ seed, subsequence, block, rounds, count }) => {
    const engine = atPhiloxEngine(seed, { subsequence, offset: block, rounds });
    return Array.from({ length: count }, () => engine.nextU32());
  },
  mask: async ({ shape: { B, H, Sq, Skv }, ...source }) => dropoutMask({ ...source, shape: [B, H, Sq, Skv] }),
  dropoutNumbers: (scheme, p) => dropoutSchemes[scheme].rule(p),
};
