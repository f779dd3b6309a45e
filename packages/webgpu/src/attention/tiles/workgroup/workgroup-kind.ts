import { namesOf } from '../../../codegen/text.ts';
import { checkedTile, isCount, type TileKind } from '../../../codegen/tile-kind.ts';
import type { Tile } from '../tile.ts';
import { brokenSizesRule, unsupportedReason } from './limits.ts';
import { makeWorkgroupTile } from './plain-tile.ts';
import { f16Arithmetic } from './variants/f16-arithmetic.ts';
import { prefetch } from './variants/prefetch.ts';
import { isPowerOfTwo, subgroupRowReduction } from './variants/subgroup-row-reduction.ts';
import { withSubgroupSize } from './variants/subgroup-size.ts';
import { unrolling } from './variants/unrolling.ts';
import { wholeChunks } from './variants/whole-chunks.ts';
import type { WorkgroupTileShape } from './workgroup-tile.ts';

const types: readonly unknown[] = ['f16', 'f32'];
const reductions: readonly unknown[] = ['workgroup', 'subgroup'];

/** Tiles in workgroup memory, with the code of all their variants. */
export const workgroupKind: TileKind<WorkgroupTileShape, Tile> = {
  name: 'workgroup',
  fields: [
    ...['kind', 'tx', 'ty', 'rows', 'cols', 'headDimChunk', 'stagingDType'],
    ...['arithmetic', 'prefetch', 'unrolled', 'rowReduction', 'subgroupSize'],
  ],
  brokenRule(shape) {
    const { arithmetic = 'f32', prefetch = false, unrolled = false, rowReduction = 'workgroup' } = shape;
    if (!types.includes(arithmetic)) return `must have arithmetic f16 or f32, got ${arithmetic}`;
    if (typeof prefetch !== 'boolean') return `must have prefetch true or false, got ${prefetch}`;
    if (typeof unrolled !== 'boolean') return `must have unrolled true or false, got ${unrolled}`;
    if (!reductions.includes(rowReduction))
      return `must have rowReduction 'workgroup' or 'subgroup', got ${rowReduction}`;
    const { subgroupSize = 1 } = shape;
    if (!isCount(subgroupSize) || !isPowerOfTwo(subgroupSize))
      return `must have a subgroupSize that is a power of two, got ${subgroupSize}`;
    return brokenSizesRule(shape);
  },
  tile(shape) {
    const variants = {
      arithmetic: shape.arithmetic === 'f16' ? f16Arithmetic : null,
      prefetch: shape.prefetch ? prefetch : null,
      unrolling: shape.unrolled ? unrolling : null,
      ...((shape.unrolled || shape.prefetch) && { wholeChunks }),
      ...(shape.rowReduction === 'subgroup' && { rowReduction: subgroupRowReduction }),
    };
    const tile = makeWorkgroupTile(shape, variants, unsupportedReason);
    return shape.subgroupSize === undefined ? tile : withSubgroupSize(shape.subgroupSize, tile);
  },
  describe(shape) {
    const { tx, ty, headDimChunk, rows = 4, cols = 1, stagingDType, arithmetic, rowReduction } = shape;
    const { subgroupSize } = shape;
    return [
      `workgroup, ${tx}×${ty} lanes of ${rows}×${4 * cols}, chunks of ${headDimChunk}`,
      ...namesOf({
        'staged in f16': stagingDType === 'f16',
        'f16 arithmetic': arithmetic === 'f16',
        'rows reduced in subgroups': rowReduction === 'subgroup',
        prefetch: shape.prefetch,
        unrolled: shape.unrolled,
        [`subgroups of ${subgroupSize}`]: subgroupSize !== undefined,
      }),
    ].join(', ');
  },
};

/**
 * Makes a tile in workgroup memory, for the option `tiles` of `createContext`.
 * @throws InvalidArgumentError if `shape` does not describe such a tile.
 */
export function workgroupTile(shape: WorkgroupTileShape): Tile {
  return checkedTile(workgroupKind, shape);
}
