import type { AttentionProblem } from '@tilewise/core';
import { needsPin } from '../../../codegen/matrices/subgroup-lanes.ts';
import type { SubgroupMatrixConfig } from '../../../device/capabilities/subgroup-matrix-configs.ts';
import { maxStationaryChannels, stationaryOf, type Tile, type TileRole } from '../tile.ts';
import type { TileSelector } from '../tile-choice.ts';
import { matrixTile } from './matrix-kind.ts';
import type { MatrixTileShape } from './shape.ts';

/** A number of subgroups in a workgroup, and the number of rows that each holds. */
type Sizes = Pick<MatrixTileShape, 'subgroups' | 'heldRows'>;

/**
 * The sizes to try, limited by workgroup memory, in the order of speed on an H200. More subgroups share each
 * streamed row, and more rows share each streamed matrix; with more than 64 channels, 32 rows and their
 * results take too many registers.
 */
function sizesToTry(
  role: TileRole,
  { Sq, Dqk, Dv, blockMask }: Pick<AttentionProblem, 'Sq' | 'Dqk' | 'Dv' | 'blockMask'>,
): readonly Sizes[] {
  const of = (...counts: readonly number[]): Sizes[] => counts.map(subgroups => ({ subgroups }));
  // Hidden blocks of 128 keys are skipped if a block is a whole number of tiles.
  if (role === 'dkdv') return blockMask ? of(4, 2) : of(7, 6, 4, 2);
  if (Math.max(Dqk, Dv) > 64) return of(8, 4, 2);
  // Four times 16 rows are enough for up to 64 queries.
  return [...(Sq > 64 ? [{ subgroups: 4, heldRows: 32 } as const] : []), ...of(4, 2)];
}

/**
 * Whether the device's matrices multiply the operands of a problem as they are, so that only probabilities
 * and score gradients are rounded.
 */
export const multipliesAsIs = (
  { component }: SubgroupMatrixConfig,
  { q, k, v, o }: AttentionProblem,
): boolean => [q, k, v, o].every(({ dtype }) => dtype === component);

/**
 * Tiles of subgroup matrices for `createContext({ device, tiles: matrixTiles })`. They are used for problems
 * whose operands the device multiplies as they are, f16 on NVIDIA's and AMD's GPUs, on a device with the
 * feature `chromium-experimental-subgroup-matrix` and subgroups of 32 lanes (if it has other sizes too,
 * `subgroup-size-control` is required). Forward with ALiBi does not use them. For all other problems the
 * result is null, and the tiles of the built-in table are used. Sums are f32; probabilities and score
 * gradients are rounded to the matrices' dtype, as in FlashAttention-2: in f16, score gradients below 6e-8
 * become 0, and those above 65504 infinite.
 */
export const matrixTiles: TileSelector = (problem, capabilities) => {
  const { Dqk, Dv } = problem;
  if (Math.max(Dqk, Dv) > maxStationaryChannels) return null;
  const matrix = capabilities.subgroupMatrixConfigs.find(shape => multipliesAsIs(shape, problem));
  if (!matrix) return null;
  const pinned = needsPin(capabilities);
  const tile = (role: TileRole): Tile | undefined =>
    sizesToTry(role, problem)
      .map(sizes =>
        matrixTile({ stationary: stationaryOf(role), ...sizes, matrix, ...(pinned && { pinned }) }),
      )
      .find(made => made.unsupported(role, problem, capabilities) === null);
  // The gradient of ALiBi's slopes multiplies the rounding errors of o by distances, so o is computed with
  // probabilities in f32.
  const forward = problem.alibi ? undefined : tile('forward');
  const [dq, dkdv] = [tile('dq'), tile('dkdv')];
  return { ...(forward && { forward }), ...(dq && { dq }), ...(dkdv && { dkdv }) };
};
