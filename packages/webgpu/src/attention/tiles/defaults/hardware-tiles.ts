import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import { type AdapterTiles, type TileSelector, unsuitedReason } from '../tile-choice.ts';
import { workgroupKind } from '../workgroup/workgroup-kind.ts';
import { adapterClass } from './adapter-class.ts';
import { fastestTile } from './default-tiles.ts';

/**
 * Chooses tiles by the cost model. Forward uses subgroup matrices if the device multiplies the operands as
 * they are: rounding probabilities, which are at most e⁸, loses no more than f16 operands do. Backward does
 * not use them: in f16, score gradients below 6e-8 would become 0.
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

/** The tiles of GPUs, including those of subgroup matrices if the device has any. */
export async function loadHardwareTiles({ subgroupMatrixConfigs }: Capabilities): Promise<AdapterTiles> {
  if (subgroupMatrixConfigs.length === 0) return hardwareTiles(null);
  const { matrixTiles } = await import('../matrix/matrix-tiles.ts');
  return hardwareTiles(matrixTiles);
}
