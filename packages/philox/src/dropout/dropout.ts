import { checkObject, describeValue, InvalidArgumentError } from '../errors.ts';
import { allocateMask } from './allocate-mask.ts';
import { elementCount } from './element-index.ts';
import { checkRowStrides, checkScheme, checkShape, checkSource, type DropoutSource } from './options.ts';
import type { DropoutSchemeName, DropoutShape, KeepDecider } from './scheme.ts';
import { dropoutSchemes } from './schemes.ts';

/** The options of `createDropout`: p, seed, offset, scheme and the extents of the scores. */
export interface DropoutOptions extends DropoutSource {
  /** The extents of the scores; with packed sequences, the largest lengths. */
  readonly shape: DropoutShape;
  /**
   * For packed sequences: the number of keys of each batch element, while `shape` has the largest lengths.
   * Only `torch-efficient` uses it to address its stream; the other schemes depend only on b, h, i and j.
   */
  readonly rowStrides?: readonly number[] | undefined;
}

/** A dropout mask that is never stored: every element is decided on demand. */
export interface Dropout extends KeepDecider {
  /** The factor of a kept probability, an f32: 1/(1 − p), or 0 if everything is dropped. */
  readonly scale: number;
}

/**
 * The dropout mask of (scheme, p, seed, offset) over the attention matrix (B, H, Sq, Skv), where H counts
 * query heads.
 *
 * @throws InvalidArgumentError if an option is unknown or out of its range.
 */
export function createDropout(options: DropoutOptions): Dropout {
  const { scheme, threshold, scale, seed, offset } = checkSource(options, ['shape', 'rowStrides']);
  const shape = checkShape(options.shape);
  const rowStrides = checkRowStrides(options.rowStrides, shape);
  return { scale, ...dropoutSchemes[scheme].decider({ shape, rowStrides, seed, offset, threshold }) };
}

/** The options of `dropoutMask`: p, seed, offset, scheme and the shape of the whole mask. */
export interface DropoutMaskOptions extends Omit<DropoutOptions, 'shape'> {
  /** The extents of the mask, where H counts query heads. */
  readonly shape: readonly [B: number, H: number, Sq: number, Skv: number];
}

/**
 * The whole mask, row-major (B, H, Sq, Skv), 1 = keep. Rows are Skv apart even with `rowStrides`; elements
 * beyond a sequence's own keys are then 0.
 *
 * @throws InvalidArgumentError if an option is out of its range; TilewiseError with code `OUT_OF_MEMORY`.
 */
export function dropoutMask(options: DropoutMaskOptions): Uint8Array<ArrayBuffer> {
  checkObject('options', options);
  const { shape } = options;
  if (!Array.isArray(shape) || shape.length !== 4) {
    const got = Array.isArray(shape) ? `${shape.length} extents` : describeValue(shape);
    throw new InvalidArgumentError('shape', `must be [B, H, Sq, Skv], got ${got}`);
  }
  const [B, H, Sq, Skv] = options.shape;
  const { keepRow } = createDropout({ ...options, shape: { B, H, Sq, Skv } });
  const mask = allocateMask(Number(elementCount(B, H, Sq, Skv)));
  // A mask without elements may have any number of rows.
  if (mask.length === 0) return mask;
  let at = 0;
  for (let b = 0; b < B; b++) {
    const keys = options.rowStrides?.[b] ?? Skv;
    for (let h = 0; h < H; h++) {
      for (let i = 0; i < Sq; i++, at += Skv) keepRow(b, h, i, 0, keys, mask, at);
    }
  }
  return mask;
}

/**
 * How far the generator's offset moves past one dropout of this shape, in the scheme's own unit, so that a
 * training loop replays the offsets that PyTorch hands out: ⌈B·H·Sq·Skv⌉₄ for `torch-efficient`, B·H·32 for
 * `flash-attention-2` (⌈·⌉₄ rounds up to a multiple of 4); 1 for `onednn`, where every offset is a fresh
 * mask.
 *
 * @throws InvalidArgumentError if the scheme is unknown or an extent is not a whole number.
 */
export function dropoutOffsetIncrement(scheme: DropoutSchemeName, shape: DropoutShape): bigint {
  return dropoutSchemes[checkScheme(scheme)].offsetIncrement(checkShape(shape));
}
