import type { AttentionProblem, DType } from '@tilewise/core';
import { isCount } from '../../codegen/tile-kind.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { TileBackend } from './interface/tile-backend.ts';
import type { LaneGrid } from './scores/score-vectors.ts';

/** The large kernels, each of which has its own tiles. */
export const tileRoles = ['forward', 'decode', 'dq', 'dkdv'] as const;
/** The name of a kernel that has its own tiles; `decode` is forward with at most 16 queries per head. */
export type TileRole = (typeof tileRoles)[number];

/** Whether a kernel computes forward. Only forward kernels reduce rows of scores. */
export const isForward = (role: TileRole): role is 'forward' | 'decode' =>
  role === 'forward' || role === 'decode';

/**
 * The side of the scores whose rows lanes or subgroups hold while the rows of the other side are streamed.
 */
export type Stationary = 'queries' | 'keys';

/** The stationary side of a kernel, which gives the rows of its result. */
export const stationaryOf = (role: TileRole): Stationary => (role === 'dkdv' ? 'keys' : 'queries');

/**
 * A tile of scores, queries × keys, which one workgroup computes. Made by `workgroupTile` and `subgroupTile`
 * of `@tilewise/webgpu/tiles` and by `matrixTile` of `@tilewise/webgpu/matrix`, which bring the code of their
 * kinds.
 *
 * The text of a kernel contains no sizes of a problem: head sizes, lengths and bounds of masks are uniforms,
 * so that problems share compiled kernels. The text fixes only the number of vec4s that a lane accumulates
 * and, with matrices, whether head sizes are multiples of 16.
 */
export interface Tile {
  /** The sizes that the tile was made from: plain data, which can be stored as JSON. */
  readonly shape: { readonly kind?: string };
  /** The lanes of the workgroup, and the scores of each lane. */
  readonly grid: LaneGrid;
  /** Writes the WGSL of the tile: where operands and sums are stored, and how they are multiplied. */
  readonly backend: TileBackend;
  /** The type in which kernels read operands. */
  readonly operandType: 'f32' | 'f16';
  /**
   * The dtype in which operands must be stored, because the tile would round all other dtypes to it; null for
   * any dtype.
   */
  readonly operandDType: DType | null;
  /** The largest dropout factor with which probabilities stay far below the largest number of their type. */
  readonly maxDropoutScale: number;
  /**
   * The number of channels of K and V together up to which one kernel holds the accumulators of both dK and
   * dV in registers.
   */
  readonly maxFusedChannels: number;
  /** The bytes of workgroup memory that a kernel needs with these head sizes. */
  workgroupMemory(role: TileRole, heads: Pick<AttentionProblem, 'Dqk' | 'Dv'>): number;
  /** The reason why a device cannot compute a kernel of a problem with this tile, or null. */
  unsupported(role: TileRole, problem: AttentionProblem, capabilities: Capabilities): string | null;
}

/**
 * The number of queries (`rows`) and keys (`cols`) of a tile, and of its lanes, which are those of its
 * workgroup.
 */
export function tileSize({ tx, ty, rows, cols }: LaneGrid): Record<'rows' | 'cols' | 'lanes', number> {
  return { rows: ty * rows, cols: 4 * tx * cols, lanes: tx * ty };
}

/** The bytes that variables use in workgroup memory: WebGPU rounds each size up to 16. */
export const bytesOfVariables = (bytes: readonly number[]): number =>
  bytes.reduce((sum, each) => sum + 16 * Math.ceil(each / 16), 0);

/** The number of invocations in a workgroup that WebGPU guarantees. */
const maxLanes = 256;

/** The rule for workgroups that a grid breaks, or null. */
export const brokenGridRule = (grid: LaneGrid): string | null => {
  const { lanes } = tileSize(grid);
  return isCount(lanes) && lanes <= maxLanes ? null : `must have 1 to ${maxLanes} lanes, got ${lanes}`;
};

/**
 * The reason why a kernel needs more workgroup memory than a device has, or null. `hint` says how to use
 * less.
 */
export const memoryReason = (
  bytes: number,
  { maxComputeWorkgroupStorageSize: available }: Capabilities,
  hint: string,
): string | null =>
  bytes > available
    ? `needs ${bytes} bytes of workgroup memory, and the device has ${available}; ${hint}`
    : null;

/** The head size up to which lanes or subgroups hold whole rows. */
export const maxStationaryChannels = 128;

/** The reason why a tile that holds whole rows of one side does not suit a kernel, or null. */
export function roleReason(role: TileRole, stationary: Stationary): string | null {
  if (role === 'decode') return 'must be of kind workgroup for few queries';
  const needed = stationaryOf(role);
  return stationary === needed ? null : `must have stationary ${needed}, got ${stationary}`;
}

/** The reason why a tile that holds whole rows of one side cannot compute a kernel, or null. */
export const stationaryReason = (
  stationary: Stationary,
  role: TileRole,
  { Dqk, Dv }: AttentionProblem,
): string | null =>
  roleReason(role, stationary) ??
  (Math.max(Dqk, Dv) > maxStationaryChannels
    ? `must be of kind workgroup for head sizes above ${maxStationaryChannels}`
    : null);
