import {
  nativeDropoutIncrement,
  nativeDropoutMask,
  transformerEngineDropoutMask,
} from '@tilewise/philox/interop';
import { type Comparison, type Family, family } from '../family.ts';
import { hexBytes, integer, packBits } from '../numerals.ts';

interface NativeRecord {
  readonly numel: number;
  readonly vec: 1 | 2 | 4 | 8 | 16;
  readonly grid: number;
  readonly p: number;
  readonly seed: string;
  readonly offset: string;
  readonly mask_hex: string;
  readonly keep_count?: number;
  readonly generator_offset_increment?: number;
}

/** Masks of `torch.native_dropout` for a launch geometry. */
export const nativeDropout: Family = family<NativeRecord>({
  title: 'torch.native_dropout',
  section: /./,
  fields: ['numel', 'vec', 'grid', 'p', 'seed', 'offset', 'mask_hex'],
  onHost: true,
  check: record => {
    const { numel, vec, grid, p, seed, offset } = record;
    const geometry = { numel, vec, grid };
    const mask = nativeDropoutMask({ ...geometry, p, seed: integer(seed), offset: integer(offset) });
    const comparisons = bits(record, mask);
    const { generator_offset_increment: increment } = record;
    if (increment !== undefined) {
      const got = [nativeDropoutIncrement(geometry)];
      comparisons.push({ what: 'generator_offset_increment', got, want: [increment] });
    }
    return comparisons;
  },
});

interface TransformerEngineRecord {
  readonly numel: number;
  readonly p: number;
  readonly seed: string;
  readonly offset: string;
  readonly mask_hex: string;
  readonly drop_threshold_u8: number;
  readonly keep_count?: number;
}

/** Masks of TransformerEngine's 8-bit dropout. */
export const transformerEngineDropout: Family = family<TransformerEngineRecord>({
  title: "TransformerEngine's dropout",
  section: /./,
  fields: ['numel', 'p', 'seed', 'offset', 'mask_hex', 'drop_threshold_u8'],
  onHost: true,
  check: record => {
    const { numel, p, seed, offset } = record;
    const source = { numel, p, seed: integer(seed), offset: integer(offset) };
    return bits(record, transformerEngineDropoutMask(source));
  },
});

function bits(
  { mask_hex, keep_count }: { readonly mask_hex: string; readonly keep_count?: number },
  mask: Uint8Array,
): Comparison[] {
  const comparisons: Comparison[] = [{ what: 'mask byte', got: packBits(mask), want: hexBytes(mask_hex) }];
  if (keep_count !== undefined) {
    const kept = mask.reduce((sum, keep) => sum + keep, 0);
    comparisons.push({ what: 'keep_count', got: [kept], want: [keep_count] });
  }
  return comparisons;
}
