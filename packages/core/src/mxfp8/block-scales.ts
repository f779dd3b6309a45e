import type { FloatFormat } from '../tensor/dtype/float-format.ts';

/** The number of elements that share a scale. */
export const MXFP8_BLOCK = 32;

export const blockAxes = ['channels', 'positions'] as const;
export const blockScaleLayouts = ['rows', 'F8_128x4'] as const;

/**
 * Which 32 neighbours of a (B, H, S, D) tensor share a scale: those of one position, or those of one channel.
 */
export type BlockAxis = (typeof blockAxes)[number];

/**
 * The layout of a tensor's scales. `'rows'`: row-major (B, H, S, ⌈D/32⌉) along channels, (B, H, ⌈S/32⌉, D)
 * along positions. `'F8_128x4'`: cuDNN's order of 512-byte blocks, padded to (B, H, ⌈S⌉₁₂₈, ⌈D/32⌉₄) and (B,
 * H, ⌈S/32⌉₄, ⌈D⌉₁₂₈).
 */
export type BlockScaleLayout = (typeof blockScaleLayouts)[number];

const roundUp = (n: number, step: number): number => Math.ceil(n / step) * step;

/** Shape of the scales of a (B, H, S, D) tensor. */
export function blockScaleShape(
  [B, H, S, D]: readonly number[],
  axis: BlockAxis,
  layout: BlockScaleLayout,
): [number, number, number, number] {
  const blocks = Math.ceil((axis === 'channels' ? D : S) / MXFP8_BLOCK);
  if (layout === 'rows') return axis === 'channels' ? [B, H, S, blocks] : [B, H, blocks, D];
  return axis === 'channels'
    ? [B, H, roundUp(S, 128), roundUp(blocks, 4)]
    : [B, H, roundUp(blocks, 4), roundUp(D, 128)];
}

/** The index of the scale of element (s, d) within one head of such a tensor. */
export function blockScaleIndex(
  shape: readonly number[],
  axis: BlockAxis,
  layout: BlockScaleLayout,
): (s: number, d: number) => number {
  const [, , rows, columns] = blockScaleShape(shape, axis, layout);
  const block = (n: number): number => Math.floor(n / MXFP8_BLOCK);
  if (layout === 'rows') {
    return axis === 'channels' ? (s, d) => s * columns + block(d) : (s, d) => block(s) * columns + d;
  }
  return axis === 'channels'
    ? (s, d) => swizzled(s, block(d), columns)
    : (s, d) => swizzled(d, block(s), rows);
}

/** cuDNN's F8_128x4: element (r, c) of rows of C columns, C a multiple of 4. */
function swizzled(r: number, c: number, C: number): number {
  const tile = Math.floor(r / 128) * (C / 4) + Math.floor(c / 4);
  return tile * 512 + (r % 32) * 16 + Math.floor((r % 128) / 32) * 4 + (c % 4);
}

/** The value of an E8M0 code: 2^(code − 127), NaN for 255. */
export function e8m0Value(code: number): number {
  return code === 255 ? NaN : 2 ** (code - 127);
}

const words = new DataView(new ArrayBuffer(4));

/**
 * The E8M0 code of a block's scale: 2^⌈log2(amax / max)⌉, the smallest power of two with which no element
 * saturates. The significand of `max` is 1.75 in both f8 formats, so the ceiling is a comparison of bits.
 */
export function blockScaleCode(amax: number, { max }: FloatFormat): number {
  if (Number.isNaN(amax)) return 255;
  words.setFloat32(0, amax);
  // A significand above 1.75 carries into the exponent.
  const exponent = (words.getUint32(0) + 0x1fffff) >>> 23;
  return Math.min(Math.max(exponent - Math.floor(Math.log2(max)), 0), 254);
}
