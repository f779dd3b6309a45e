import { type MatrixTileShape, matrixTile } from './matrix-tile.ts';
import { type ChooseTiles, maxChannelsOfKeptRows } from './tile-choice.ts';

/** Subgroups of a workgroup, as far as there is workgroup memory for them. */
const subgroupCounts = [4, 2] as const;

/**
 * Tiles of subgroup matrices for `createContext({ device, tiles: matrixTiles })`, for problems whose operands the device multiplies as they
 * are: f16 with NVIDIA's, on a device with `chromium-experimental-subgroup-matrix` and subgroups of 32 lanes; null for all others, which
 * run on the tiles of the table. Sums are f32; probabilities and gradients of scores are rounded to the matrices' dtype, as in
 * FlashAttention-2.
 */
export const matrixTiles: ChooseTiles = ({ q, k, v, o, Dqk, Dv }, capabilities) => {
  if (Math.max(Dqk, Dv) > maxChannelsOfKeptRows) return null;
  const matrix = capabilities.matrices.find(({ component }) =>
    [q, k, v, o].every(({ dtype }) => dtype === component),
  );
  if (!matrix) return null;
  const tile = (own: MatrixTileShape['own']): ReturnType<typeof matrixTile> | undefined =>
    subgroupCounts
      .map(subgroups => matrixTile({ own, subgroups, matrix }))
      .find(made => made.reason(capabilities) === null);
  const [queries, keys] = [tile('queries'), tile('keys')];
  return { ...(queries && { forward: queries, dq: queries }), ...(keys && { dkdv: keys }) };
};
