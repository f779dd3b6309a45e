import {
  checkObject,
  checkOneOf,
  checkOptions,
  checkProbability,
  describeValue,
  InvalidArgumentError,
} from '../errors.ts';
import { toU64, type U64, type Uint } from '../u64.ts';
import { elementCount } from './element-index.ts';
import { dropoutRules, dropoutSchemeNames } from './rules.ts';
import type { DropoutRule, DropoutSchemeName, DropoutShape } from './scheme.ts';

/** The source of a mask: everything except its shape. */
export interface DropoutSource {
  /** The convention; `torch-efficient` by default. */
  readonly scheme?: DropoutSchemeName | undefined;
  /**
   * The probability to **drop**, in [0, 1] (below 1 for `flash-attention-2`); rounded to f32 before it is
   * compared.
   */
  readonly p: number;
  /** Unsigned 64-bit. */
  readonly seed: Uint;
  /** Unsigned 64-bit, 0 by default, in the scheme's own unit (the README has the table). */
  readonly offset?: Uint | undefined;
}

/**
 * The source with every default filled in. `others` are the call's options that do not belong to the source.
 * @throws InvalidArgumentError if the scheme or an option is unknown, p is not a probability or the scheme
 * has no mask for it, or seed or offset is not an unsigned 64-bit integer.
 */
export function checkSource(
  source: DropoutSource,
  others: readonly string[],
): DropoutRule & { readonly scheme: DropoutSchemeName; readonly seed: U64; readonly offset: U64 } {
  checkOptions('options', source, ['scheme', 'p', 'seed', 'offset', ...others]);
  const scheme = checkScheme(source.scheme ?? 'torch-efficient');
  return {
    scheme,
    ...dropoutRules[scheme](checkProbability('p', source.p)),
    seed: toU64(source.seed, 'seed'),
    offset: toU64(source.offset ?? 0, 'offset'),
  };
}

/** Returns `name` if there is such a scheme; otherwise throws InvalidArgumentError. */
export function checkScheme(name: DropoutSchemeName): DropoutSchemeName {
  return checkOneOf('scheme', name, dropoutSchemeNames);
}

/**
 * Returns `shape` if every extent is a whole number and the element count is exact in a double.
 *
 * @throws InvalidArgumentError otherwise.
 */
export function checkShape(shape: DropoutShape): DropoutShape {
  checkObject('shape', shape);
  for (const name of ['B', 'H', 'Sq', 'Skv'] as const) {
    checkCount(shape[name], `shape.${name}`);
  }
  const count = elementCount(shape.B, shape.H, shape.Sq, shape.Skv);
  if (count <= Number.MAX_SAFE_INTEGER) return shape;
  throw new InvalidArgumentError('shape', `must have fewer than 2^53 elements, got ${count}`);
}

/**
 * The row strides of packed sequences, one per batch element, or none.
 * @throws InvalidArgumentError if their number is not B, or one is not a whole number of at most Skv.
 */
export function checkRowStrides(
  rowStrides: readonly number[] | undefined,
  { B, Skv }: DropoutShape,
): readonly number[] {
  if (rowStrides === undefined) return [];
  if (!Array.isArray(rowStrides) || rowStrides.length !== B) {
    const got = Array.isArray(rowStrides) ? rowStrides.length : describeValue(rowStrides);
    throw new InvalidArgumentError('rowStrides', `must have one entry per batch element (${B}), got ${got}`);
  }
  // Visits holes too, unlike `forEach`.
  for (const [b, stride] of rowStrides.entries()) {
    checkCount(stride, `rowStrides[${b}]`);
    if (stride > Skv)
      throw new InvalidArgumentError(`rowStrides[${b}]`, `must be at most Skv (${Skv}), got ${stride}`);
  }
  return rowStrides;
}

function checkCount(value: number, name: string): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new InvalidArgumentError(name, `must be a whole number, got ${describeValue(value)}`);
}
