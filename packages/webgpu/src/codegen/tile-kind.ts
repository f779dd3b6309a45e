import { InvalidArgumentError } from '@tilewise/core';
import { checkObject } from '@tilewise/philox/errors';

/**
 * One way in which a workgroup computes a tile of its result, for attention and for matrix products alike.
 * Shared code asks a tile for what it needs, and never asks which kind the tile is of.
 *
 * `Shape` is plain data, which people write and which is kept as JSON. `Tile` is what kernels are made of.
 */
export interface TileKind<Shape, Tile> {
  /** The field `kind` of its shapes. */
  readonly name: string;
  /** The names of the fields that a shape may have. */
  readonly fields: readonly string[];
  /** The rule that a shape breaks, or null. A shape that was kept as JSON may hold anything. */
  brokenRule(shape: Shape): string | null;
  /** The tile of a shape that breaks no rule. */
  tile(shape: Shape): Tile;
  /** The shape in a few words, for people. */
  describe(shape: Shape): string;
}

/**
 * The tile of a shape that a caller gives.
 * @throws InvalidArgumentError naming the rule that the shape breaks.
 */
export function checkedTile<Shape extends object, Tile>(kind: TileKind<Shape, Tile>, shape: Shape): Tile {
  checkObject('shape', shape);
  const rule = brokenFieldRule(kind, shape) ?? kind.brokenRule(shape);
  if (rule) throw new InvalidArgumentError('shape', rule);
  return kind.tile(shape);
}

/** Whether a size of a shape is a positive whole number. */
export const isCount = (n: unknown): boolean => Number.isInteger(n) && Number(n) > 0;

/**
 * Checks that a shape has known fields only, and no values that plain data cannot hold. Returns the rule that
 * it breaks, or null.
 */
export function brokenFieldRule(
  { fields }: { readonly fields: readonly string[] },
  shape: object,
): string | null {
  const wrong = Object.entries(shape).find(
    ([name, value]) => !fields.includes(name) || ['symbol', 'bigint', 'function'].includes(typeof value),
  );
  return wrong ? `must be plain data with no fields but ${fields.join(', ')}` : null;
}
