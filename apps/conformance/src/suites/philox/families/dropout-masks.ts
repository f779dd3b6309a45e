import type { DropoutSchemeName } from '@tilewise/philox';
import { type Comparison, type Family, family } from '../family.ts';
import { hexBytes, integer, packBits } from '../numerals.ts';

interface MaskRecord {
  readonly B: number;
  readonly H: number;
  readonly M: number;
  readonly N: number;
  readonly p: number;
  readonly seed: string;
  readonly offset: string;
  readonly mask_hex: string;
  readonly keep_count?: number;
  /** The start of the first row, as digits 0 and 1. */
  readonly row0?: string;
  /** flash-attention-2: the largest byte that is kept. */
  readonly p_keep_u8?: number;
  /** oneDNN: the largest word that is dropped, hexadecimal. */
  readonly threshold?: string;
}

const fields = ['B', 'H', 'M', 'N', 'p', 'seed', 'offset', 'mask_hex'] as const;

function masks(
  scheme: DropoutSchemeName,
  where: { readonly section: RegExp; readonly also?: readonly (keyof MaskRecord)[] },
): Family {
  return family<MaskRecord>({
    title: `${scheme} dropout`,
    section: where.section,
    fields: [...fields, ...(where.also ?? [])],
    check: async (record, generator) => {
      const { B, H, M, N, p } = record;
      const request = { scheme, p, seed: integer(record.seed), offset: integer(record.offset) };
      const mask = await generator.mask({ ...request, shape: { B, H, Sq: M, Skv: N } });
      const { threshold } = generator.dropoutNumbers(scheme, p);
      return [...thresholds(record, threshold), ...bits(record, mask)];
    },
  });
}

function bits({ mask_hex, keep_count, row0, N }: MaskRecord, mask: Uint8Array): Comparison[] {
  const comparisons = [{ what: 'mask byte', got: packBits(mask), want: hexBytes(mask_hex) }] as Comparison[];
  if (keep_count !== undefined) {
    const kept = mask.reduce((sum, keep) => sum + keep, 0);
    comparisons.push({ what: 'keep_count', got: [kept], want: [keep_count] });
  }
  if (row0 !== undefined) {
    const start = mask.subarray(0, Math.min(N, row0.length));
    comparisons.push({ what: 'row0', got: [[...start].join('')], want: [row0] });
  }
  return comparisons;
}

/** Both conventions use a threshold that is one more than the number in their files. */
function thresholds({ p_keep_u8, threshold }: MaskRecord, actual: number): Comparison[] {
  const comparisons: Comparison[] = [];
  if (p_keep_u8 !== undefined) comparisons.push({ what: 'p_keep_u8', got: [actual - 1], want: [p_keep_u8] });
  if (threshold !== undefined) {
    comparisons.push({ what: 'threshold', got: [actual - 1], want: [Number.parseInt(threshold, 16)] });
  }
  return comparisons;
}

/** Masks of oneDNN's Dropout. */
export const onednnMasks: Family = masks('onednn', { section: /^masks$/ });
/** Masks of FlashAttention-2; its records give the largest byte that is kept. */
export const flashAttention2Masks: Family = masks('flash-attention-2', { section: /./, also: ['p_keep_u8'] });
/** Masks of PyTorch's memory-efficient attention. */
export const torchEfficientMasks: Family = masks('torch-efficient', { section: /./ });
