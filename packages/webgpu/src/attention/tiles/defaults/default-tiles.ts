import type { AttentionProblem, OperandDesc } from '@tilewise/core';
import { type AdapterClass, adapterClass } from '../../../device/capabilities/adapter-class.ts';
import type { Capabilities } from '../../../device/capabilities/capabilities.ts';
import { subgroupSizeForRegisters } from '../../../device/capabilities/subgroup-size.ts';
import { isForward, type TileRole, tileSize } from '../tile.ts';
import { completeTile } from '../workgroup/plain-tile.ts';
import { workgroupKind } from '../workgroup/workgroup-kind.ts';
import type { WorkgroupTileShape } from '../workgroup/workgroup-tile.ts';
import { clocksPerFlop, type TileCost, tileCost } from './cost-model.ts';

/** A tile with the model's prediction. */
export interface ModelledTile {
  readonly shape: WorkgroupTileShape;
  readonly cost: TileCost;
  /** Clocks of all cores together per FLOP of the kernel. */
  readonly clocksPerFlop: number;
}

/**
 * The tile sizes that the model chooses from. A lane with 8 × 8 scores needs more registers than most devices
 * have.
 */
const sizes: readonly WorkgroupTileShape[] = [
  { tx: 8, ty: 8, headDimChunk: 8 },
  { tx: 8, ty: 8, headDimChunk: 4 },
  { tx: 16, ty: 4, headDimChunk: 6 },
  { tx: 16, ty: 16, headDimChunk: 4 },
  { tx: 16, ty: 16, headDimChunk: 8 },
  { tx: 32, ty: 8, headDimChunk: 4 },
  { tx: 8, ty: 4, rows: 8, headDimChunk: 4 },
  { tx: 8, ty: 8, rows: 8, headDimChunk: 4 },
  { tx: 16, ty: 8, rows: 8, headDimChunk: 4 },
  { tx: 16, ty: 16, rows: 8, headDimChunk: 4 },
  { tx: 8, ty: 16, cols: 2, headDimChunk: 4 },
  { tx: 8, ty: 8, rows: 8, cols: 2, headDimChunk: 4 },
  { tx: 16, ty: 8, rows: 8, cols: 2, headDimChunk: 4 },
  { tx: 8, ty: 16, rows: 8, cols: 2, headDimChunk: 4 },
  { tx: 16, ty: 16, rows: 8, cols: 2, headDimChunk: 4 },
];

/** The number of workgroups of a problem's kernel. */
export function groupsOf(
  role: TileRole,
  shape: WorkgroupTileShape,
  { B, Hq, Hk, Sq, Skv }: AttentionProblem,
): number {
  const { rows, cols } = tileSize(completeTile(shape));
  return role === 'dkdv' ? B * Hk * Math.ceil(Skv / cols) : B * Hq * Math.ceil(Sq / rows);
}

/** A tile with its predicted cost for a problem's kernel. */
export function modelledTile(
  shape: WorkgroupTileShape,
  role: TileRole,
  problem: AttentionProblem,
  core: AdapterClass,
): ModelledTile {
  const cost = tileCost(shape, role, problem, core);
  return { shape, cost, clocksPerFlop: clocksPerFlop(cost, groupsOf(role, shape, problem), core.cores) };
}

/**
 * The tile in workgroup memory that is fastest on an adapter according to the model, among those that need no
 * more registers than a lane has; if all need more, the tile that needs the fewest. Results are equally exact
 * on all of them, because workgroup memory stores f16 operands unchanged or as f32.
 */
export function fastestTile(
  role: TileRole,
  problem: AttentionProblem,
  operands: readonly OperandDesc[],
  capabilities: Capabilities,
): ModelledTile | null {
  const core = adapterClass(capabilities);
  const isHalf = operands.every(({ dtype }) => dtype === 'f16');
  const ways: readonly Partial<WorkgroupTileShape>[] = isHalf ? [{}, { stagingDType: 'f16' }] : [{}];
  const subgroupSize = subgroupSizeForRegisters(capabilities);
  const reductions = isForward(role) ? (['subgroup', 'workgroup'] as const) : (['workgroup'] as const);
  const tiles = sizes
    .flatMap(size =>
      ways.flatMap(way => {
        const shapes = reductions.map(rowReduction => ({
          ...{ ...size, ...way, rowReduction, unrolled: true, subgroupSize },
        }));
        const able = shapes.find(
          shape => workgroupKind.tile(shape).unsupported(role, problem, capabilities) === null,
        );
        return able ? [modelledTile(able, role, problem, core)] : [];
      }),
    )
    .sort((a, b) => a.clocksPerFlop - b.clocksPerFlop);
  const fewest = Math.min(...tiles.map(({ cost }) => cost.registers));
  return (
    tiles.find(({ cost }) => !cost.spills) ?? tiles.find(({ cost }) => cost.registers === fewest) ?? null
  );
}
