import { InvalidArgumentError } from '@tilewise/core';
import { checkObject } from '@tilewise/philox/errors';

/**
 * One way in which a workgroup computes a tile of its result, both for attention and for matrix products.
 * Shared code gets everything it needs from the tile, and never checks the tile's kind.
 *
 * `Shape` is plain data, which people write and which is stored as JSON. Kernels are made from a `Tile`.
 */
export interface TileKind<Shape, Tile> {
  /** The value of the field `kind` in its shapes. */
  readonly name: string;
  /** The names of the fields that a shape may have. */
  readonly fields: readonly string[];
  /** The rule that a shape breaks, or null. A shape from stored JSON may contain anything. */
  brokenRule(shape: Shape): string | null;
  /** Makes the tile of a shape that breaks no rule. */
  tile(shape: Shape): Tile;
  /** Describes the shape in a few words, for people. */
  describe(shape: Shape): string;
}

/**
 * Makes the tile of a caller's shape.
 * @throws InvalidArgumentError naming the rule that the shape breaks.
 */
export function checkedTile<Shape extends object, Tile>(kind: TileKind<Shape, Tile>, shape: Shape): Tile {
  checkObject('shape', shape);
  const rule = brokenFieldRule(kind, shape) ?? kind.brokenRule(shape);
  if (rule) throw new InvalidArgumentError('shape', rule);
  return kind.tile(shape);
}

/** Whether a size of a shape is a positive integer. */
export const isCount = (n: unknown): boolean => Number.isInteger(n) && Number(n) > 0;

/**
 * Checks that a shape has only known fields, and no values that plain data cannot contain. Returns the rule
 * that it breaks, or null.
 */
export function brokenFieldRule(
  { fields }: { readonly fields: readonly string[] },
  shape: object,
): string | null {
  const wrong = Object.entries(shape).find(
    ([name, value]) => !fields.includes(name) || ['symbol', 'bigint', 'function'].includes(typeof value),
  );
  return wrong ? `must be plain data with only the fields ${fields.join(', ')}` : null;
}
