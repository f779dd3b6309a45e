import { broadcastGroup, swiftShader } from '../../../device/capabilities/broadcasting.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import type { SumParts } from '../product.ts';
import { subgroupMatMulKind } from './subgroup-kind.ts';
import type { MatMulTile } from './tile.ts';
import { type WorkgroupMatMulShape, workgroupMatMulKind } from './workgroup-kind.ts';

/**
 * Tiles, the first that C has room for: few rows or few columns get a tile as flat as they are. Where C is
 * too small to give every core one of the large tiles, it is cut into smaller ones.
 */
const flatTiles: readonly {
  readonly upTo: { readonly M: number; readonly N: number };
  readonly tile: WorkgroupMatMulShape;
}[] = [
  { upTo: { M: 4, N: Infinity }, tile: { tx: 64, ty: 1, rows: 1, columns: 1, depth: 8 } },
  { upTo: { M: Infinity, N: 4 }, tile: { tx: 1, ty: 64, rows: 1, columns: 1, depth: 8 } },
  { upTo: { M: 16, N: Infinity }, tile: { tx: 16, ty: 4, rows: 1, columns: 2, depth: 16 } },
  { upTo: { M: Infinity, N: 16 }, tile: { tx: 4, ty: 16, rows: 2, columns: 1, depth: 16 } },
];
const largeTile: WorkgroupMatMulShape = { tx: 8, ty: 8, rows: 2, columns: 2, depth: 16 };
const smallTile: WorkgroupMatMulShape = { tx: 8, ty: 8, rows: 1, columns: 1, depth: 32 };

/**
 * 32 × 16 where lanes read for each other: 16 vec4s are what a lane of lavapipe accumulates fastest, and more
 * lanes gain nothing. Takes no longer to compile than the tiles above.
 */
const subgroupTile = (group: 4 | 8): MatMulTile =>
  subgroupMatMulKind.tile({ kind: 'subgroup', lanes: 8, columns: 4, group });

/**
 * 64 × 64 on 32 lanes for SwiftShader, which takes ten times as long to read a vector as to multiply it, from
 * workgroup memory too: each is multiplied more often than on the tiles above. Takes longer to compile, which
 * large matrices repay.
 */
const swiftShaderTile: WorkgroupMatMulShape = { tx: 4, ty: 8, rows: 2, columns: 4, depth: 32 };
const groupsWorthCompiling = 16;

/** Workgroups that keep a large GPU busy. */
const enoughGroups = 64;

/** Steps of the sum that are worth a workgroup of their own. */
const leastDepth = 512;

export interface MatMulShape {
  readonly M: number;
  readonly N: number;
  readonly K: number;
  /** Matrices. */
  readonly count: number;
}

const groupsOf = ({ M, N, count }: MatMulShape, tile: MatMulTile): number =>
  count * Math.ceil(M / tile.M) * Math.ceil(N / tile.N);

/**
 * The tile for a shape on a device, and into how many parts its sum is cut: more than one only where C alone
 * gives too few workgroups.
 */
export function chooseTile(
  shape: MatMulShape,
  capabilities: Capabilities,
): { readonly tile: MatMulTile; readonly parts: SumParts } {
  const tile = tileFor(shape, capabilities);
  const groups = Math.max(1, groupsOf(shape, tile));
  const wanted = Math.max(1, Math.min(Math.floor(enoughGroups / groups), Math.floor(shape.K / leastDepth)));
  const depth = Math.max(1, Math.ceil(shape.K / wanted / tile.depth)) * tile.depth;
  return { tile, parts: { count: Math.max(1, Math.ceil(shape.K / depth)), depth } };
}

function tileFor(shape: MatMulShape, capabilities: Capabilities): MatMulTile {
  const { M, N } = shape;
  const flat = flatTiles.find(({ upTo }) => M <= upTo.M && N <= upTo.N);
  if (flat) return workgroupMatMulKind.tile(flat.tile);
  const largeIf = (large: WorkgroupMatMulShape, leastGroups: number): MatMulTile => {
    const tile = workgroupMatMulKind.tile(large);
    return groupsOf(shape, tile) >= leastGroups ? tile : workgroupMatMulKind.tile(smallTile);
  };
  if (capabilities.adapter === swiftShader) return largeIf(swiftShaderTile, groupsWorthCompiling);
  const group = broadcastGroup(capabilities);
  return group ? subgroupTile(group) : largeIf(largeTile, enoughGroups);
}
