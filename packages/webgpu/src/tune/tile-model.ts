import {
  type AttentionProblem,
  checkObject,
  checkOneOf,
  describeValue,
  InvalidArgumentError,
} from '@tilewise/core';
import { checkForwardProblem } from '@tilewise/core/engine';
import { modelledTile } from '../attention/tiles/defaults/default-tiles.ts';
import type { TileRole } from '../attention/tiles/tile.ts';
import { defaultSizes } from '../attention/tiles/tile-table.ts';
import type { WorkgroupTileShape } from '../attention/tiles/workgroup/workgroup-tile.ts';
import { adapterClass } from '../device/capabilities/adapter-class.ts';
import type { Capabilities } from '../device/capabilities/capabilities.ts';
import { checkDescription } from './tile-description.ts';

/** The cost model's prediction for a kernel with a tile in workgroup memory. Plain data. */
export interface TileModel {
  /** The class of the adapter: `nvidia`, `amd`, `apple`, `intel`, `qualcomm`, `arm` or `unknown`. */
  readonly adapterClass: string;
  /** The tile that the prediction is for. */
  readonly tile: WorkgroupTileShape;
  /** Bytes of storage buffers read per floating-point operation of the kernel. */
  readonly storageBytesPerFlop: number;
  /** Bytes written to and read from workgroup memory per floating-point operation of the kernel. */
  readonly workgroupBytesPerFlop: number;
  /** Barriers in one iteration of the loop over tiles. */
  readonly barriersPerKeyTile: number;
  /** 32-bit registers per lane. */
  readonly registers: number;
  /** The number of lanes that one core of the adapter runs at once. */
  readonly lanesInFlight: number;
  /** Clocks in which a wave issues instructions, for one tile of scores. */
  readonly busyClocks: number;
  /** Clocks in which a wave waits, for one tile of scores. */
  readonly waitingClocks: number;
  /** The time relative to the baseline tile: 0.5 is twice as fast. */
  readonly relativeTime: number;
}

/** The baseline tile, which every device can compute: 32 × 32 scores on 64 lanes, no optional features. */
export const baselineTile: WorkgroupTileShape = defaultSizes;

/**
 * Predicts the cost of a kernel with a tile. Use the model to compare tiles on one adapter. It is not fitted
 * to measurements of GPUs; `tune` measures on the device at hand.
 * @throws InvalidArgumentError if `problem` is not a forward problem, if `tile` does not describe a tile in
 * workgroup memory, and for another kernel or an adapter that is not a string.
 */
export function modelTile(
  role: Exclude<TileRole, 'decode'>,
  problem: AttentionProblem,
  tile: WorkgroupTileShape,
  capabilities: Pick<Capabilities, 'adapter'>,
): TileModel {
  checkOneOf('role', role, ['forward', 'dq', 'dkdv']);
  checkForwardProblem(problem);
  checkDescription('tile', role, tile);
  checkOneOf('tile.kind', tile.kind ?? 'workgroup', ['workgroup']);
  checkObject('capabilities', capabilities);
  const { adapter } = capabilities;
  if (typeof adapter !== 'string')
    throw new InvalidArgumentError(
      'capabilities.adapter',
      `must be a string such as 'nvidia ampere', got ${describeValue(adapter)}`,
    );
  const core = adapterClass(capabilities);
  const { cost, clocksPerFlop } = modelledTile(tile, role, problem, core);
  const { flops, storageBytes, workgroupBytes, barriers, registers, lanesInFlight } = cost;
  return {
    ...{ adapterClass: core.name, tile, registers, lanesInFlight, barriersPerKeyTile: barriers },
    ...{ storageBytesPerFlop: storageBytes / flops, workgroupBytesPerFlop: workgroupBytes / flops },
    ...{ busyClocks: cost.busyClocks, waitingClocks: cost.waitingClocks },
    relativeTime: clocksPerFlop / modelledTile(baselineTile, role, problem, core).clocksPerFlop,
  };
}
