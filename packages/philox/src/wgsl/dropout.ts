import { flashAttention2Wgsl } from '../dropout/flash-attention-2.ts';
import { onednnWgsl } from '../dropout/onednn.ts';
import { checkScheme, checkShape, checkSource, type DropoutSource } from '../dropout/options.ts';
import type { DropoutSchemeName, DropoutShape } from '../dropout/scheme.ts';
import { torchEfficientWgsl } from '../dropout/torch-efficient.ts';
import { checkObject, InvalidArgumentError } from '../errors.ts';
import { lowWords, toUint, type U64 } from '../u64.ts';
import { composeWgsl, type WgslPiece } from '../wgsl-pieces/piece.ts';

/**
 * The WGSL of every dropout convention; all declare the same functions (see `dropoutTypesWgsl`), so use one.
 */
export const dropoutPieces: Readonly<Record<DropoutSchemeName, WgslPiece>> = {
  'torch-efficient': torchEfficientWgsl,
  'flash-attention-2': flashAttention2Wgsl,
  onednn: onednnWgsl,
};

/**
 * Self-contained WGSL with `dropout_keep` and its parts for one scheme (see `dropoutTypesWgsl`).
 *
 * @throws InvalidArgumentError if the scheme is unknown.
 */
export function dropoutWgsl(scheme: DropoutSchemeName): string {
  return composeWgsl(dropoutPieces[checkScheme(scheme)]);
}

/** The fields of the WGSL `DropoutParams`, in order; all are u32 words except `scale`, an f32. */
export interface DropoutUniforms {
  /** The seed, as two 32-bit words. */
  readonly seed: U64;
  /** The offset in the scheme's own unit, as two 32-bit words. */
  readonly offset: U64;
  /** Sq·Skv: elements from one head to the next. */
  readonly headStride: U64;
  /** Skv, or the number of keys of a packed sequence: elements from one row to the next. */
  readonly rowStride: number;
  /** The threshold that the scheme compares words with; 0xffffffff if `keepNone` decides. */
  readonly threshold: number;
  /** 1 if everything is dropped, which no 32-bit threshold can express; otherwise 0. */
  readonly keepNone: number;
  /** The factor of a kept probability: 1/(1 − p), or 0 if everything is dropped. */
  readonly scale: number;
}

/**
 * The parameters of a scheme's WGSL for one mask.
 *
 * @throws InvalidArgumentError if an option is out of its range or Skv does not fit 32 bits.
 */
export function dropoutUniforms(
  options: DropoutSource & { readonly shape: Pick<DropoutShape, 'Sq' | 'Skv'> },
): DropoutUniforms {
  const { threshold, scale, seed, offset } = checkSource(options, ['shape']);
  const { Sq, Skv } = checkShape({ B: 1, H: 1, ...options.shape });
  const keepNone = threshold === 2 ** 32;
  return {
    seed,
    offset,
    headStride: lowWords(BigInt(Sq) * BigInt(Skv)),
    rowStride: Number(toUint(Skv, 'shape.Skv', 32)),
    threshold: keepNone ? 0xffffffff : threshold,
    keepNone: keepNone ? 1 : 0,
    scale,
  };
}

/**
 * The ten words of the WGSL `DropoutParams`, ready for a uniform buffer.
 * @param uniforms the result of `dropoutUniforms`.
 * @throws InvalidArgumentError for any other object, such as the options of `dropoutUniforms`.
 */
export function dropoutUniformWords(uniforms: DropoutUniforms): Uint32Array<ArrayBuffer> {
  checkObject('uniforms', uniforms);
  const { seed, offset, headStride, rowStride, threshold, keepNone, scale } = uniforms;
  if (![seed, offset, headStride].every(Array.isArray))
    throw new InvalidArgumentError('uniforms', 'must be the result of dropoutUniforms');
  const words = new Uint32Array([...seed, ...offset, ...headStride, rowStride, threshold, keepNone, 0]);
  new Float32Array(words.buffer)[9] = scale;
  return words;
}
