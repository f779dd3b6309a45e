import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import { type AdapterTiles, type TileSelector, unsuitedReason } from '../tile-choice.ts';
import { workgroupKind } from '../workgroup/workgroup-kind.ts';
import { adapterClass } from './adapter-class.ts';
import { fastestTile } from './default-tiles.ts';

/**
 * Tiles by the model of cost. Forward takes subgroup matrices where the device multiplies the operands as
 * they are: probabilities, at most e⁸, lose no more than operands of f16 do. Backward does not: in f16 the
 * gradient of a score is 0 below 6e-8.
 */
export const hardwareTiles =
  (matrixTiles: TileSelector | null): AdapterTiles =>
  (role, problem, operands, capabilities) => {
    if (problem.fp8) return null;
    const { Dqk, Dv } = problem;
    const matrix =
      role === 'forward' && Math.max(Dqk, Dv) <= adapterClass(capabilities).matrixChannels
        ? matrixTiles?.(problem, capabilities)?.forward
        : null;
    if (matrix && unsuitedReason(matrix, problem, operands) === null) return matrix;
    const modelled = fastestTile(role, problem, operands, capabilities);
    return modelled && workgroupKind.tile(modelled.shape);
  };

/** The tiles of GPUs, with those of subgroup matrices on a device that has some. */
export async function loadHardwareTiles({ subgroupMatrixConfigs }: Capabilities): Promise<AdapterTiles> {
  if (subgroupMatrixConfigs.length === 0) return hardwareTiles(null);
  const { matrixTiles } = await import('../matrix/matrix-tiles.ts');
  return hardwareTiles(matrixTiles);
}
