import { type Family, family } from '../family.ts';
import { hex8, integer } from '../numerals.ts';

interface EngineStream {
  readonly seed: string | number;
  readonly subsequence: string | number;
  /** Counted in blocks of four words. */
  readonly offset: string | number;
  /** 10 if absent. */
  readonly n_rounds?: number;
  readonly out: readonly string[];
}

/** The draws of PyTorch's `at::philox_engine`. */
export const engineStreams: Family = family<EngineStream>({
  title: 'at::philox_engine',
  section: /./,
  fields: ['seed', 'subsequence', 'offset', 'out'],
  check: async ({ seed, subsequence, offset, n_rounds = 10, out }, generator) => {
    const words = await generator.stream({
      seed: integer(seed),
      subsequence: integer(subsequence),
      block: integer(offset),
      rounds: n_rounds,
      count: out.length,
    });
    return [{ what: 'out', got: words.map(hex8), want: out }];
  },
});
