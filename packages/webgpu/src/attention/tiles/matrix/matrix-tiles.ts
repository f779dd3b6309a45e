import type { AttentionProblem } from '@tilewise/core';
import type { SubgroupMatrixConfig } from '../../../device/capabilities/subgroup-matrix-configs.ts';
import { maxStationaryChannels, stationaryOf, type Tile, type TileRole } from '../tile.ts';
import type { TileSelector } from '../tile-choice.ts';
import { matrixTile, needsPin } from './matrix-kind.ts';

/** Subgroups of a workgroup, as far as there is workgroup memory for them. */
const subgroupCounts = [4, 2] as const;

/**
 * Whether matrices multiply the operands of a problem as they are, so that only probabilities and gradients
 * of scores are rounded.
 */
export const multipliesAsIs = (
  { component }: SubgroupMatrixConfig,
  { q, k, v, o }: AttentionProblem,
): boolean => [q, k, v, o].every(({ dtype }) => dtype === component);

/**
 * Tiles of subgroup matrices for `createContext({ device, tiles: matrixTiles })`, for problems whose operands
 * the device multiplies as they are: f16 with NVIDIA's, on a device with
 * `chromium-experimental-subgroup-matrix` and subgroups of 32 lanes, or of 32 among others with
 * `subgroup-size-control`; null for all others, which run on the tiles of the table. Sums are f32;
 * probabilities and gradients of scores are rounded to the matrices' dtype, as in FlashAttention-2: in f16
 * such a gradient is 0 below 6e-8, and infinite above 65504.
 */
export const matrixTiles: TileSelector = (problem, capabilities) => {
  const { Dqk, Dv } = problem;
  if (Math.max(Dqk, Dv) > maxStationaryChannels) return null;
  const matrix = capabilities.subgroupMatrixConfigs.find(shape => multipliesAsIs(shape, problem));
  if (!matrix) return null;
  const pinned = needsPin(capabilities);
  const tile = (role: TileRole): Tile | undefined =>
    subgroupCounts
      .map(subgroups => matrixTile({ stationary: stationaryOf(role), subgroups, matrix, pinned }))
      .find(made => made.unsupported(role, problem, capabilities) === null);
  const [forward, dq, dkdv] = [tile('forward'), tile('dq'), tile('dkdv')];
  return { ...(forward && { forward }), ...(dq && { dq }), ...(dkdv && { dkdv }) };
};
