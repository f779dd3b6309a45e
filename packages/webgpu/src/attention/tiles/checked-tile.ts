import { InvalidArgumentError } from '@tilewise/core';
import { checkObject } from '@tilewise/philox/errors';
import { brokenFieldRule, type TileKind } from '../../codegen/tile-kind.ts';
import type { Tile } from './tile.ts';

/**
 * The tile of a shape that a caller gives.
 * @throws InvalidArgumentError naming the rule that the shape breaks.
 */
export function checkedTile<Shape extends object>(kind: TileKind<Shape, Tile>, shape: Shape): Tile {
  checkObject('shape', shape);
  const rule = brokenFieldRule(kind, shape) ?? kind.brokenRule(shape);
  if (rule) throw new InvalidArgumentError('shape', rule);
  return kind.tile(shape);
}
