import { firstWordAtLeast } from '@tilewise/philox';
import { nativeDropoutScale } from '@tilewise/philox/interop';
import { type Comparison, type Family, family } from '../family.ts';
import { f32Bits } from '../numerals.ts';

interface TorchThreshold {
  readonly p: number;
  readonly keep_if_x_ge: string;
  readonly p_f32_bits?: string;
  readonly native_keep_if_x_lt?: string;
  readonly 'q_f32_bits(1-p in double, then f32)'?: string;
  /** Null or absent at p = 1. */
  readonly 'scale_f32_bits 1/(1-p)'?: string | null;
}

/** The integer decisions of PyTorch's kernels: memory-efficient attention, and `native_dropout`. */
export const torchThresholds: Family = family<TorchThreshold>({
  title: 'torch-efficient thresholds',
  section: /./,
  fields: ['p', 'keep_if_x_ge'],
  check: (record, generator) => {
    const { p } = record;
    const { threshold, scale } = generator.dropoutNumbers('torch-efficient', p);
    const comparisons: Comparison[] = [
      { what: 'keep_if_x_ge', got: [threshold], want: [Number.parseInt(record.keep_if_x_ge, 16)] },
    ];
    const compare = (what: string, got: string, want: string | null | undefined): void => {
      if (typeof want === 'string') comparisons.push({ what, got: [got], want: [want] });
    };
    compare('p_f32_bits', f32Bits(p), record.p_f32_bits);
    compare('q_f32_bits', f32Bits(1 - p), record['q_f32_bits(1-p in double, then f32)']);
    compare('scale_f32_bits', f32Bits(scale), record['scale_f32_bits 1/(1-p)']);
    const { native_keep_if_x_lt: native } = record;
    if (native !== undefined) {
      const got = Number.isFinite(nativeDropoutScale(p)) ? firstWordAtLeast(1 - p) : 0;
      comparisons.push({ what: 'native_keep_if_x_lt', got: [got], want: [Number.parseInt(native, 16)] });
    }
    return comparisons;
  },
});

interface FlashThreshold {
  readonly p: number;
  readonly p_keep_u8: number;
  readonly actual_keep_prob?: number;
}

/** The largest byte that FlashAttention-2 keeps. */
export const flashAttention2Thresholds: Family = family<FlashThreshold>({
  title: 'flash-attention-2 thresholds',
  section: /./,
  fields: ['p', 'p_keep_u8'],
  check: ({ p, p_keep_u8, actual_keep_prob }, generator) => {
    const { threshold } = generator.dropoutNumbers('flash-attention-2', p);
    const comparisons: Comparison[] = [{ what: 'p_keep_u8', got: [threshold - 1], want: [p_keep_u8] }];
    if (actual_keep_prob !== undefined) {
      comparisons.push({ what: 'actual_keep_prob', got: [threshold / 256], want: [actual_keep_prob] });
    }
    return comparisons;
  },
});
