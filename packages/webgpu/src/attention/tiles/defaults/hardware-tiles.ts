import { adapterClass } from '../../../device/capabilities/adapter-class.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import { subgroupSizeForRegisters } from '../../../device/capabilities/subgroup-size.ts';
import {
  type AdapterTiles,
  type DecodeTile,
  type LoadedTileKinds,
  type TileSelector,
  unsuitedReason,
} from '../tile-choice.ts';
import { workgroupKind } from '../workgroup/workgroup-kind.ts';
import type { WorkgroupTileShape } from '../workgroup/workgroup-tile.ts';
import { fastestTile, groupsOf } from './default-tiles.ts';
import type { nvidiaTiles as NvidiaTiles } from './nvidia-tiles.ts';

/**
 * Chooses the fastest tile according to the cost model; on NVIDIA's GPUs, a measured one if the problem has
 * enough workgroups to fill a GPU. Where a kernel of both dK and dV would spill registers at large head
 * sizes, each has a kernel of its own. Forward uses subgroup matrices if the device multiplies the operands
 * as they are: rounding probabilities, which are at most e⁸, loses no more than f16 operands do. Backward
 * does not use them: in f16, score gradients below 6e-8 would become 0.
 */
export const hardwareTiles =
  (matrixTiles: TileSelector | null, nvidiaTiles: typeof NvidiaTiles | null = null): AdapterTiles =>
  (role, problem, operands, capabilities) => {
    if (problem.fp8) return null;
    const { Dqk, Dv } = problem;
    const { name, matrixChannels, cores } = adapterClass(capabilities);
    const matrix =
      role === 'forward' && Math.max(Dqk, Dv) <= matrixChannels
        ? matrixTiles?.(problem, capabilities)?.forward
        : null;
    if (matrix && unsuitedReason(matrix, problem, operands) === null) return matrix;
    const measured =
      name === 'nvidia'
        ? nvidiaTiles?.(role, problem, operands).find(
            shape => workgroupKind.tile(shape).unsupported(role, problem, capabilities) === null,
          )
        : null;
    if (measured && groupsOf(role, measured, problem) >= cores) return workgroupKind.tile(measured);
    const modelled = fastestTile(role, problem, operands, capabilities);
    if (!modelled) return null;
    const { shape, cost } = modelled;
    return { ...workgroupKind.tile(shape), maxFusedChannels: cost.spills ? 128 : 256 };
  };

/**
 * The tile for few queries, given the sizes in the table. Few workgroups run at once, so lanes have many
 * reads in flight, and the tile takes little workgroup memory. On an H100, one query of 32 heads that share 8
 * key heads takes a seventh of the time that it took with larger chunks and one read at a time.
 */
export const hardwareDecodeTile: DecodeTile = (sizes, problem, capabilities) => {
  const { q, k, v } = problem;
  const isHalf =
    [q, k, v].every(({ dtype }) => dtype === 'f16') && capabilities.features.includes('shader-f16');
  const shape: WorkgroupTileShape = {
    ...sizes,
    headDimChunk: sizes.ty === 1 ? 2 : 4,
    unrolled: true,
    subgroupSize: subgroupSizeForRegisters(capabilities),
    ...(isHalf && { headDimChunk: 4, stagingDType: 'f16' }),
  };
  const tile = workgroupKind.tile(shape);
  return tile.unsupported('decode', problem, capabilities) === null ? tile : workgroupKind.tile(sizes);
};

/** The tiles of GPUs, with those of subgroup matrices if the device has any, and NVIDIA's on NVIDIA's. */
export async function loadHardwareTiles(capabilities: Capabilities): Promise<LoadedTileKinds> {
  const matrices =
    capabilities.subgroupMatrixConfigs.length > 0 ? await import('../matrix/matrix-tiles.ts') : null;
  const nvidia = adapterClass(capabilities).name === 'nvidia' ? await import('./nvidia-tiles.ts') : null;
  const adapterTiles = hardwareTiles(matrices?.matrixTiles ?? null, nvidia?.nvidiaTiles);
  return { adapterTiles, decodeTile: hardwareDecodeTile };
}
