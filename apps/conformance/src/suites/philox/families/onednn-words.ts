import { splitU64 } from '@tilewise/philox';
import { onednnLegacyWord, onednnWord } from '@tilewise/philox/interop';
import { type Comparison, type Family, family } from '../family.ts';
import type { Generator } from '../generator.ts';
import { hex8, integer } from '../numerals.ts';

interface OnednnWord {
  readonly idx: string;
  readonly seed: string;
  readonly offset: string;
  readonly out: string;
}

/** The words behind oneDNN's Dropout, by its 64-bit path. */
export const onednnWords: Family = family<OnednnWord>({
  title: 'oneDNN words',
  section: /./,
  fields: ['idx', 'seed', 'offset', 'out'],
  check: async ({ out, ...record }, generator) => {
    const [index, seed, offset] = [record.idx, record.seed, record.offset].map(integer);
    return [{ what: 'out', got: [hex8(await wordAt(index, seed, offset, generator))], want: [out] }];
  },
});

interface OnednnSequence {
  /** Decimal, unlike the indices of single words. */
  readonly seed: string | number;
  readonly offset: string | number;
  /** Words 0 to 15. */
  readonly first16: readonly number[];
  /** Word 2³³ + 5, whose index needs more than 32 bits. */
  readonly at_2p33_plus5?: number;
}

/** The first words of oneDNN's sequences, and one with a large index. */
export const onednnSequences: Family = family<OnednnSequence>({
  title: 'oneDNN sequences',
  section: /./,
  fields: ['seed', 'offset', 'first16'],
  check: async ({ first16, at_2p33_plus5: far, ...record }, generator) => {
    const [seed, offset] = [BigInt(record.seed), BigInt(record.offset)];
    const words = (indices: readonly bigint[]): Promise<number[]> =>
      Promise.all(indices.map(index => wordAt(index, seed, offset, generator)));
    const comparisons: Comparison[] = [
      { what: 'word', got: await words(first16.map((_, n) => BigInt(n))), want: first16 },
    ];
    if (far !== undefined)
      comparisons.push({ what: 'at_2p33_plus5', got: await words([2n ** 33n + 5n]), want: [far] });
    return comparisons;
  },
});

async function wordAt(index: bigint, seed: bigint, offset: bigint, generator: Generator): Promise<number> {
  if (generator.isHost) return onednnWord(index, seed, offset);
  const lane = Number(index & 3n);
  const counter = [...splitU64(offset), ...splitU64(index - BigInt(lane))];
  return (await generator.block4x32(counter, splitU64(seed), 10))[lane];
}

interface OnednnLegacyWord {
  readonly idx: number;
  readonly seed: number;
  readonly out: string;
  readonly out_v3_10?: string;
}

/** oneDNN's 32-bit paths, up to release 3.10 and since 3.11. */
export const onednnLegacyWords: Family = family<OnednnLegacyWord>({
  title: 'oneDNN legacy words',
  section: /^legacy/,
  fields: ['idx', 'seed', 'out'],
  onHost: true,
  check: ({ idx, seed, out, out_v3_10 }) => {
    const comparisons: Comparison[] = [
      { what: 'out', got: [hex8(onednnLegacyWord(idx, seed, '3.11'))], want: [out] },
    ];
    if (out_v3_10 !== undefined) {
      const got = [hex8(onednnLegacyWord(idx, seed, '3.10'))];
      comparisons.push({ what: 'out_v3_10', got, want: [out_v3_10] });
    }
    return comparisons;
  },
});
