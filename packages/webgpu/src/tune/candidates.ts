import { type AttentionProblem, checkObject, checkOneOf, InvalidArgumentError } from '@tilewise/core';
import { checkForwardProblem } from '@tilewise/core/engine';
import { decodeSizes as tableDecodeSizes } from '../attention/kernels/forward/forward-shape.ts';
import { hardwareDecodeTile, hardwareTiles } from '../attention/tiles/defaults/hardware-tiles.ts';
import { nvidiaTiles } from '../attention/tiles/defaults/nvidia-tiles.ts';
import { matrixTiles, multipliesAsIs } from '../attention/tiles/matrix/matrix-tiles.ts';
import { stationaryOf, type TileRole, tileRoles } from '../attention/tiles/tile.ts';
import { defaultSizes, forwardSizesFor, subgroupShapeFor } from '../attention/tiles/tile-table.ts';
import type { WorkgroupTileShape } from '../attention/tiles/workgroup/workgroup-tile.ts';
import { needsPin } from '../codegen/matrices/subgroup-lanes.ts';
import { isCpu } from '../device/capabilities/broadcasting.ts';
import { type Capabilities, guaranteedCapabilities } from '../device/capabilities/capabilities.ts';
import { describedTile, isDescription, type TileDescription } from './tile-description.ts';

/**
 * Sizes worth trying for tiles in workgroup memory, the most promising first. dK/dV cannot use sizes that are
 * not square.
 */
const workgroupSizes: readonly WorkgroupTileShape[] = [
  defaultSizes,
  { tx: 16, ty: 16, headDimChunk: 8 },
  { tx: 16, ty: 8, headDimChunk: 4, rows: 8 },
  { tx: 8, ty: 8, headDimChunk: 4, rows: 8, cols: 2 },
  { tx: 16, ty: 16, headDimChunk: 4 },
  { tx: 16, ty: 8, headDimChunk: 4, rows: 8, cols: 2 },
  { tx: 16, ty: 16, headDimChunk: 4, rows: 8 },
  { tx: 8, ty: 16, headDimChunk: 4, rows: 8 },
  { tx: 8, ty: 16, headDimChunk: 4, cols: 2 },
  { tx: 8, ty: 4, headDimChunk: 4, rows: 8 },
  { tx: 8, ty: 16, headDimChunk: 4 },
  { tx: 16, ty: 4, headDimChunk: 4, rows: 8, cols: 2 },
  { tx: 16, ty: 8, headDimChunk: 2, rows: 8 },
  { tx: 16, ty: 8, headDimChunk: 4 },
  { tx: 8, ty: 8, headDimChunk: 4 },
  { tx: 16, ty: 4, headDimChunk: 4 },
];

/** Sizes for few queries: tiles with more keys than rows. */
const decodeSizes: readonly WorkgroupTileShape[] = [
  { tx: 32, ty: 1, headDimChunk: 2 },
  { tx: 32, ty: 1, headDimChunk: 3 },
  { tx: 16, ty: 2, headDimChunk: 4 },
  { tx: 16, ty: 4, headDimChunk: 4 },
  defaultSizes,
  { tx: 16, ty: 1, headDimChunk: 4 },
  { tx: 32, ty: 2, headDimChunk: 3 },
  { tx: 8, ty: 4, headDimChunk: 8 },
];

/** The number of sizes that are tried with all the variants below. */
const likelySizes = 7;

/** The variants of a tile, the plain one first. */
const ways: readonly Partial<WorkgroupTileShape>[] = [
  {},
  { arithmetic: 'f16' },
  { rowReduction: 'subgroup' },
  { prefetch: true },
  { arithmetic: 'f16', rowReduction: 'subgroup' },
  { arithmetic: 'f16', prefetch: true },
  { rowReduction: 'subgroup', prefetch: true },
  { arithmetic: 'f16', rowReduction: 'subgroup', prefetch: true },
  { unrolled: true },
  { rowReduction: 'subgroup', unrolled: true },
  { prefetch: true, unrolled: true },
  { rowReduction: 'subgroup', prefetch: true, unrolled: true },
];

/**
 * Tiles of these sizes. They stage what they can in f16, which gives the same bits. The most promising sizes
 * are also tried with products in f16 where possible, which gives nearly the same results: `toleranceOf`
 * gives the tolerance. These sizes are tried in several variants before the other sizes, in case there is no
 * time for all of them.
 */
function workgroupCandidates(
  role: TileRole,
  { q, k, v }: AttentionProblem,
  { features, subgroupMinSize, subgroupMaxSize }: Capabilities,
): readonly WorkgroupTileShape[] {
  const isHalf = [q, k, v].every(({ dtype }) => dtype === 'f16') && features.includes('shader-f16');
  const sizes = (role === 'decode' ? decodeSizes : workgroupSizes).map(size =>
    isHalf ? { ...size, stagingDType: 'f16' as const } : size,
  );
  const small: readonly Partial<WorkgroupTileShape>[] =
    features.includes('subgroup-size-control') && subgroupMinSize < subgroupMaxSize
      ? [{ unrolled: true, subgroupSize: subgroupMinSize }]
      : [];
  const likely = sizes
    .slice(0, likelySizes)
    .flatMap((size, s) => [...ways, ...small].map((way, w) => ({ tile: { ...size, ...way }, turn: s + w })))
    .sort((a, b) => a.turn - b.turn);
  return [...likely.map(({ tile }) => tile), ...sizes.slice(likelySizes)];
}

/** The lanes of subgroup tiles, and the number of streamed rows that they read at a time. */
const subgroupCandidates = [
  { lanes: 32, group: 8 },
  { lanes: 32, group: 4 },
  { lanes: 64, group: 4 },
  { lanes: 8, group: 8 },
  { lanes: 8, group: 4 },
] as const;

/** The number of subgroups in matrix tiles, and the rows that each holds. */
const matrixCandidates = [
  { subgroups: 8 },
  { subgroups: 8, heldRows: 32 },
  { subgroups: 4 },
  { subgroups: 4, heldRows: 32 },
  { subgroups: 7 },
  { subgroups: 2 },
] as const;

/**
 * The tile that the built-in table gives for a kernel.
 * @throws InvalidArgumentError for an invalid kernel name, problem or description of a device.
 */
export function tableTile(
  role: TileRole,
  problem: AttentionProblem,
  capabilities: Capabilities,
): TileDescription {
  checkArguments(role, problem, capabilities);
  if (role === 'decode') {
    const sizes = tableDecodeSizes(problem);
    if (isCpu(capabilities)) return sizes;
    const { shape } = hardwareDecodeTile(sizes, problem, capabilities);
    return isDescription(shape) ? shape : sizes;
  }
  const otherwise = role === 'forward' ? forwardSizesFor(Infinity, problem.Dv) : defaultSizes;
  if (isCpu(capabilities)) return subgroupShapeFor(stationaryOf(role), problem, capabilities) ?? otherwise;
  const { q, k, v } = problem;
  const shape = hardwareTiles(matrixTiles, nvidiaTiles)(role, problem, [q, k, v], capabilities)?.shape;
  return shape && isDescription(shape) ? shape : otherwise;
}

/**
 * The tiles worth timing for a kernel that the device can compute: first the tile of the table, then matrix
 * tiles, then tiles of the same kind as the table's.
 * @throws as `tableTile`.
 */
export function tileCandidates(
  role: TileRole,
  problem: AttentionProblem,
  capabilities: Capabilities,
): TileDescription[] {
  checkArguments(role, problem, capabilities);
  const stationary = stationaryOf(role);
  const matrices = capabilities.subgroupMatrixConfigs.filter(matrix => multipliesAsIs(matrix, problem));
  const pinned = needsPin(capabilities) ? { pinned: true } : {};
  const table = tableTile(role, problem, capabilities);
  const ofSubgroups = subgroupCandidates.map(sizes => ({ kind: 'subgroup', stationary, ...sizes }) as const);
  const others = [...workgroupCandidates(role, problem, capabilities), ...ofSubgroups];
  const isOfTable = ({ kind = 'workgroup' }: TileDescription): boolean =>
    kind === (table.kind ?? 'workgroup');
  const all: readonly TileDescription[] = [
    table,
    ...matrixCandidates
      .filter(sizes => stationary === 'queries' || !('heldRows' in sizes))
      .flatMap(sizes =>
        matrices.map(matrix => ({ kind: 'matrix', stationary, ...sizes, matrix, ...pinned }) as const),
      ),
    ...others.filter(isOfTable),
    ...others.filter(tile => !isOfTable(tile)),
  ];
  const able = all.filter(tile => describedTile(tile).unsupported(role, problem, capabilities) === null);
  return [...new Map(able.map(tile => [JSON.stringify(tile), tile])).values()];
}

function checkArguments(role: TileRole, problem: AttentionProblem, capabilities: Capabilities): void {
  checkOneOf('role', role, tileRoles);
  checkForwardProblem(problem);
  checkObject('capabilities', capabilities);
  for (const name of Object.keys(guaranteedCapabilities)) {
    if (name in capabilities) continue;
    const rule = 'must be given: pass ctx.capabilities, or guaranteedCapabilities with changes';
    throw new InvalidArgumentError(`capabilities.${name}`, rule);
  }
}
