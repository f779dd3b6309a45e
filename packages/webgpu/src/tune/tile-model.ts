import { type AttentionProblem, checkForwardProblem } from '@tilewise/core';
import { adapterClass } from '../attention/tiles/defaults/adapter-class.ts';
import { modelledTile } from '../attention/tiles/defaults/default-tiles.ts';
import type { TileRole } from '../attention/tiles/tile.ts';
import { defaultSizes } from '../attention/tiles/tile-table.ts';
import type { WorkgroupTileShape } from '../attention/tiles/workgroup/workgroup-tile.ts';
import type { Capabilities } from '../device/capabilities/capabilities.ts';

/** The prediction of the cost model for a kernel on a tile in workgroup memory. Plain data. */
export interface TileModel {
  /** The class of the adapter: `nvidia`, `amd`, `apple`, `intel`, `qualcomm`, `arm` or `unknown`. */
  readonly adapterClass: string;
  readonly tile: WorkgroupTileShape;
  /** Bytes per FLOP of the kernel. */
  readonly storageBytesPerFlop: number;
  readonly workgroupBytesPerFlop: number;
  readonly barriersPerKeyTile: number;
  /** Registers of 32 bits of a lane. */
  readonly registers: number;
  /** Lanes that one core of the adapter runs at once. */
  readonly lanesInFlight: number;
  /** Clocks of a wave for one tile of scores: those of its instructions, and those spent waiting. */
  readonly busyClocks: number;
  readonly waitingClocks: number;
  /**
   * Time relative to the tile that every device computes, 32 × 32 scores on 64 lanes: 0.5 is twice as fast.
   */
  readonly timeOfPlain: number;
}

/** The tile that every device computes: 32 × 32 scores on 64 lanes, without any optional feature. */
export const plainTile: WorkgroupTileShape = defaultSizes;

/**
 * Predicts what a kernel costs on a tile. The model orders tiles on one adapter. No GPU was measured: see
 * `tune` for a measurement on the device at hand.
 * @throws InvalidArgumentError for what is no problem.
 */
export function modelTile(
  role: Exclude<TileRole, 'decode'>,
  problem: AttentionProblem,
  tile: WorkgroupTileShape,
  capabilities: Pick<Capabilities, 'adapter'>,
): TileModel {
  checkForwardProblem(problem);
  const core = adapterClass(capabilities);
  const { cost, clocksPerFlop } = modelledTile(tile, role, problem, core);
  const { flops, storageBytes, workgroupBytes, barriers, registers, lanesInFlight } = cost;
  return {
    ...{ adapterClass: core.name, tile, registers, lanesInFlight, barriersPerKeyTile: barriers },
    ...{ storageBytesPerFlop: storageBytes / flops, workgroupBytesPerFlop: workgroupBytes / flops },
    ...{ busyClocks: cost.busyClocks, waitingClocks: cost.waitingClocks },
    timeOfPlain: clocksPerFlop / modelledTile(plainTile, role, problem, core).clocksPerFlop,
  };
}
