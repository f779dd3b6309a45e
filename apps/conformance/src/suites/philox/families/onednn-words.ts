import { splitU64 } from '@tilewise/philox';
import { onednnLegacyWord, onednnWord } from '@tilewise/philox/interop';
import { type Comparison, type Family, family } from '../family.ts';
import { hex8, integer } from '../numerals.ts';

interface OnednnWord {
  readonly idx: string;
  readonly seed: string;
  readonly offset: string;
  readonly out: string;
}

/** The words behind oneDNN's Dropout: its 64-bit path. */
export const onednnWords: Family = family<OnednnWord>({
  title: 'oneDNN words',
  section: /./,
  fields: ['idx', 'seed', 'offset', 'out'],
  check: async ({ out, ...record }, generator) => {
    const [index, seed, offset] = [record.idx, record.seed, record.offset].map(integer);
    if (generator.isHost) return [{ what: 'out', got: [hex8(onednnWord(index, seed, offset))], want: [out] }];
    const lane = Number(index & 3n);
    const counter = [...splitU64(offset), ...splitU64(index - BigInt(lane))];
    const block = await generator.block4x32(counter, splitU64(seed), 10);
    return [{ what: 'out', got: [hex8(block[lane])], want: [out] }];
  },
});

interface OnednnLegacyWord {
  readonly idx: number;
  readonly seed: number;
  readonly out: string;
  readonly out_v3_10?: string;
}

/** oneDNN's 32-bit paths, of releases up to 3.10 and since 3.11. */
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
