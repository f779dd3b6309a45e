import fc from 'fast-check';
import { runSeed } from './tools/test-data/src/random-problem/random/seed.ts';

// Properties draw their values by the seed of the run: CI draws the same ones again for the same commit.
// fast-check wants an integer of 32 bits.
fc.configureGlobal({ seed: runSeed() | 0 });
