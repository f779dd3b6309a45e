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

/** The values of the fields that choose variants. */
const variantValues = {
  arithmetic: ['f16', 'f32'],
  prefetch: [true, false],
  unrolled: [true, false],
  rowReduction: ['workgroup', 'subgroup'],
} satisfies { readonly [field in keyof WorkgroupTileShape]?: readonly WorkgroupTileShape[field][] };

/** Tiles in workgroup memory, with the code of all their variants. */
export const workgroupKind: TileKind<WorkgroupTileShape, Tile> = {
  name: 'workgroup',
  fields: [
    ...['kind', 'tx', 'ty', 'rows', 'cols', 'headDimChunk', 'stagingDType', 'subgroupSize'],
    ...Object.keys(variantValues),
  ],
  brokenRule(shape) {
    for (const [field, values] of Object.entries<readonly unknown[]>(variantValues)) {
      const value = shape[field as keyof typeof variantValues];
      if (value !== undefined && !values.includes(value))
        return `must have ${field} ${values.join(' or ')}, got ${value}`;
    }
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
