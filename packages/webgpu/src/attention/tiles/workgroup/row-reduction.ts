import type { ShaderPart } from '../../../codegen/shader-part.ts';
import type { Capabilities } from '../../../device/capabilities.ts';
import { type LaneGrid, laneGrid, repeat, tileRows, type WorkgroupTile } from '../tile.ts';
import type { RowStatistic } from '../tile-backend.ts';
import type { TileChoice } from '../tile-choice.ts';

/** How a tile through workgroup memory places its lanes, and joins what those of one row have found of it. */
export interface TileStatistics {
  readonly part: (tile: WorkgroupTile) => ShaderPart;
  /** Bytes of each of its variables in workgroup memory. */
  bytes(tile: WorkgroupTile): readonly number[];
  /** Statements that declare `tx` and `ty`: every place of the grid is one lane's, it does not matter which. */
  place(tile: WorkgroupTile): string;
  /** As `TileWork.statistic`. */
  statistic(tile: WorkgroupTile, statistic: RowStatistic): string;
  /** Why a tile cannot join so on a device, or nothing. */
  reason(role: keyof TileChoice, tile: WorkgroupTile, capabilities: Capabilities): string | null;
}

/** Through `row_partial`, one partial result per row and lane: as it is on every device. */
export const workgroupStatistics: TileStatistics = {
  part: tile => ({ code: `var<workgroup> row_partial: array<f32, ${tileRows(tile) * tile.tx}>;` }),
  bytes: tile => [4 * tileRows(tile) * tile.tx],
  place: ({ tx }) => `let tx = lane % ${tx}u;\n  let ty = lane / ${tx}u;`,
  statistic: (tile, statistic) => statisticInMemory(laneGrid(tile), statistic),
  reason: () => null,
};

export const statisticsOf = (tile: WorkgroupTile): TileStatistics =>
  tile.variants?.statistics ?? workgroupStatistics;

/** Each lane of a row joins what all of them have stored, in the same order. */
export function statisticInMemory(
  { tx, rows }: LaneGrid,
  { name, own, join, afterBarrier }: RowStatistic,
): string {
  if (tx === 1) return repeat(rows, r => `let ${name}${r} = ${own(r)};`, '\n    ');
  const at = (r: number, x: string): string => `row_partial[(ty * ${rows}u + ${r}u) * ${tx}u + ${x}]`;
  return `${afterBarrier ? '' : 'workgroupBarrier();'}
    ${repeat(rows, r => `${at(r, 'tx')} = ${own(r)};`, '\n    ')}
    workgroupBarrier();
    ${repeat(
      rows,
      r => `var ${name}${r} = ${at(r, '0u')};
    for (var x = 1u; x < ${tx}u; x++) {
      ${name}${r} = ${join(`${name}${r}`, at(r, 'x'))};
    }`,
      '\n    ',
    )}`;
}
