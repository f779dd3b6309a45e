import { checkedTile, isCount, type TileKind } from '../../../codegen/tile-kind.ts';
import type { LaneGrid } from '../scores/score-vectors.ts';
import { brokenGridRule, stationaryReason, type Tile } from '../tile.ts';
import { quadBackend } from './quad-backend.ts';
import type { SubgroupTileShape } from './shape.ts';
import { subgroupBackend } from './subgroup-backend.ts';

/** Tiles whose lanes broadcast rows to each other. */
export const subgroupKind: TileKind<SubgroupTileShape, Tile> = {
  name: 'subgroup',
  fields: ['kind', 'stationary', 'lanes', 'group', 'rows'],
  brokenRule({ stationary, lanes, group, rows = 4 }) {
    if (stationary !== 'queries' && stationary !== 'keys')
      return `must have stationary queries or keys, got ${stationary}`;
    if (group !== 4 && group !== 8) return `must have a group of 4 or 8, got ${group}`;
    if (rows !== 4 && (rows !== 8 || group !== 8))
      return `must have lanes of 4 rows, or of 8 in groups of 8, got ${rows} in groups of ${group}`;
    return isCount(lanes) && lanes % group === 0
      ? null
      : `must have a multiple of ${group} lanes for groups of ${group}, got ${lanes}`;
  },
  describe: ({ lanes, group }) => `subgroup, ${lanes} lanes, ${group} rows`,
  tile(shape) {
    const { stationary, lanes, group, rows = 4 } = shape;
    const grid: LaneGrid =
      stationary === 'queries'
        ? { tx: 1, ty: lanes, rows, cols: group / 4 }
        : { tx: lanes, ty: 1, rows: group, cols: rows / 4 };
    const tile = { stationary, group, rows, grid };
    return {
      ...{ shape, grid, backend: group === 4 ? quadBackend(tile) : subgroupBackend(tile) },
      ...{ operandType: 'f32', operandDType: null, maxDropoutScale: Infinity },
      workgroupMemory: () => 0,
      maxFusedChannels: group === 4 || rows === 8 ? 128 : 256,
      unsupported: (role, problem, { subgroupMinSize }) =>
        brokenGridRule(grid) ??
        stationaryReason(stationary, role, problem) ??
        (subgroupMinSize < group
          ? `needs subgroups of at least ${group} lanes, but the device's may have only ${subgroupMinSize}`
          : null),
    };
  },
};

/**
 * Makes a tile whose lanes broadcast rows to each other, for the option `tiles` of `createContext`.
 * @throws InvalidArgumentError if `shape` does not describe such a tile.
 */
export const subgroupTile = (shape: Omit<SubgroupTileShape, 'kind'>): Tile =>
  checkedTile(subgroupKind, { kind: 'subgroup', ...shape });
