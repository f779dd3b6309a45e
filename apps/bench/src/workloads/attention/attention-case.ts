import { cost, normalise, type Tensor } from '@tilewise/core';
import { normalInputs } from '@tilewise/device-report/measure';
import { copiesBeyondCaches } from '../../gpu/buffers.ts';
import { UsageError } from '../../suite/suite.ts';

export type Shape4 = readonly [B: number, H: number, S: number, D: number];
export type CaseDType = 'f32' | 'f16' | 'bf16';

/** One attention problem to measure; q, k and v all have the shape (B, H, S, D). */
export interface AttentionCase {
  readonly shape: Shape4;
  readonly dtype: CaseDType;
  readonly causal: boolean;
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly dO: Tensor;
  /** Floating-point operations on visible pairs: 2 products forward, 5 backward. */
  readonly flops: { readonly forward: number; readonly backward: number };
}

export function attentionCase(shape: Shape4, dtype: CaseDType, causal: boolean): AttentionCase {
  const exact = normalInputs(['q', 'k', 'v', 'dO'], shape);
  const [q, k, v, dO] = [exact.q, exact.k, exact.v, exact.dO].map(t => t.cast(dtype));
  const { forward, backward } = cost(normalise({ q, k, v }, { causal }).problem);
  const flops = { forward: forward.flops, backward: backward.flops };
  return { shape, dtype, causal, q, k, v, dO, flops };
}

/**
 * Several copies of the inputs, more than caches hold, to use in turn; small inputs have only a few copies.
 */
export function copiesOf<T>(of: AttentionCase, make: (of: AttentionCase) => T): T[] {
  const bytes = [of.q, of.k, of.v, of.dO].reduce((sum, { data }) => sum + data.byteLength, 0);
  return Array.from({ length: copiesBeyondCaches(bytes) }, () => make(of));
}

/** The columns that identify the case of a row. */
export const caseColumns = ({
  shape,
  dtype,
  causal,
}: AttentionCase): Readonly<Record<'B×H×S×D' | 'dtype' | 'mask', string>> => ({
  ...{ 'B×H×S×D': shape.join('×'), dtype, mask: causal ? 'causal' : 'full' },
});

/**
 * Allowed errors of results, as fractions of the largest value. f32: the effect of summing in a different
 * order. 16-bit dtypes: the result is rounded once, and kernels may round probabilities and their gradients
 * before a product, which makes four units in the last place in all.
 */
export const toleranceOf = (dtype: CaseDType): { readonly forward: number; readonly backward: number } =>
  ({
    f32: { forward: 1e-5, backward: 2e-5 },
    f16: { forward: 4 * 2 ** -10, backward: 8 * 2 ** -10 },
    bf16: { forward: 4 * 2 ** -7, backward: 8 * 2 ** -7 },
  })[dtype];

export function parseShapes(text: string): Shape4[] {
  return text.split(',').map(item => {
    const parts = item.trim().split(/[x×]/).map(Number);
    if (parts.length !== 4 || !parts.every(n => Number.isInteger(n) && n >= 1)) {
      throw new UsageError(`--shapes must be shapes such as 1x4x512x64, got '${item}'.`);
    }
    return [parts[0], parts[1], parts[2], parts[3]];
  });
}
