import { broadcastGroup, swiftShader } from '../../../device/capabilities/broadcasting.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import { subgroupMatMulKind } from './subgroup-kind.ts';
import { enoughGroups, fewRows, groupsOf, type MatMulSize, type MatMulTile, type SumParts } from './tile.ts';
import { type WorkgroupMatMulShape, workgroupMatMulKind } from './workgroup-kind.ts';

/** The tile for few rows. If C is too small to give every core a large tile, small tiles are used. */
const flatTile: WorkgroupMatMulShape = { tx: 16, ty: 4, rows: 1, columns: 2, depth: 16 };
const largeTile: WorkgroupMatMulShape = { tx: 8, ty: 8, rows: 2, columns: 2, depth: 16 };
const smallTile: WorkgroupMatMulShape = { tx: 8, ty: 8, rows: 1, columns: 1, depth: 32 };

/**
 * 32 × 16 for adapters on which lanes read for each other: lavapipe is fastest if a lane accumulates 16
 * vec4s, and more lanes gain nothing. Takes no longer to compile than the tiles above, and computes products
 * of few rows faster than the flat tile.
 */
const subgroupTile = (group: 4 | 8): MatMulTile =>
  subgroupMatMulKind.tile({ kind: 'subgroup', lanes: 8, columns: 4, group });

/**
 * 64 × 64 on 32 lanes for SwiftShader, on which reading a vector, even from workgroup memory, takes ten times
 * as long as multiplying it: on this tile, each vector is multiplied more often than on the tiles above. It
 * takes longer to compile, which pays off for large matrices.
 */
const swiftShaderTile: WorkgroupMatMulShape = { tx: 4, ty: 8, rows: 2, columns: 4, depth: 32 };
const groupsWorthCompiling = 16;

/** The smallest number of steps of the sum that is worth a separate workgroup. */
const minDepth = 512;

/**
 * How the sum of a product is divided on a tile: into more than one part only if C alone gives too few
 * workgroups.
 */
export function sumParts(size: MatMulSize, tile: MatMulTile): SumParts {
  const groups = Math.max(1, groupsOf(size, tile));
  const wanted = Math.max(1, Math.min(Math.floor(enoughGroups / groups), Math.floor(size.K / minDepth)));
  const depth = Math.max(1, Math.ceil(size.K / wanted / tile.depth)) * tile.depth;
  return { count: Math.max(1, Math.ceil(size.K / depth)), depth };
}

/** The tile for a product on a device. */
export function tileFor(size: MatMulSize, capabilities: Capabilities): MatMulTile {
  const isSwiftShader = capabilities.adapter === swiftShader;
  const group = isSwiftShader ? null : broadcastGroup(capabilities);
  if (group) return subgroupTile(group);
  if (size.M <= fewRows) return workgroupMatMulKind.tile(flatTile);
  const largeIf = (large: WorkgroupMatMulShape, minGroups: number): MatMulTile => {
    const tile = workgroupMatMulKind.tile(large);
    return groupsOf(size, tile) >= minGroups ? tile : workgroupMatMulKind.tile(smallTile);
  };
  return isSwiftShader ? largeIf(swiftShaderTile, groupsWorthCompiling) : largeIf(largeTile, enoughGroups);
}
