import type { AttentionProblem, DType } from '@tilewise/core';
import { repeat } from '../../codegen/text.ts';
import { isCount } from '../../codegen/tile-kind.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { TileBackend } from './tile-backend.ts';

/** The large kernels, each of which has tiles of its own: `decode` is forward with at most 16 queries. */
export const tileRoles = ['forward', 'decode', 'dq', 'dkdv'] as const;
/** A kernel that has tiles of its own. */
export type TileRole = (typeof tileRoles)[number];

/** Whether a kernel is forward, which alone joins rows over lanes. */
export const isForward = (role: TileRole): role is 'forward' | 'decode' =>
  role === 'forward' || role === 'decode';

/** The side of the scores whose rows lanes or subgroups hold while rows of the other side stream past. */
export type Stationary = 'queries' | 'keys';

/** The stationary side of a kernel: the rows of its result. */
export const stationaryOf = (role: TileRole): Stationary => (role === 'dkdv' ? 'keys' : 'queries');

/**
 * A tile of scores, queries × keys, which one workgroup computes. Made by `workgroupTile` and `subgroupTile`
 * of `@tilewise/webgpu/tiles` and by `matrixTile` of `@tilewise/webgpu/matrix`, which bring the code of their
 * kind.
 *
 * The text of a kernel holds no size of a problem: head sizes, lengths and bounds of masks are uniforms, so
 * that problems share compiled kernels. Only the number of vec4s that a lane accumulates is fixed when the
 * text is written.
 */
export interface Tile {
  /** The sizes that the tile was made from: plain data, to be kept as JSON. */
  readonly shape: { readonly kind?: string };
  readonly grid: LaneGrid;
  readonly backend: TileBackend;
  /** The type in which kernels read operands. */
  readonly operandType: 'f32' | 'f16';
  /**
   * The dtype that operands must be stored in, because the tile would round all others to it; null for any
   * dtype.
   */
  readonly operandDType: DType | null;
  /** The largest factor of dropout at which probabilities stay far from the largest number of their type. */
  readonly maxDropoutScale: number;
  /**
   * Channels of K and V together up to which one kernel holds the accumulators of both dK and dV in
   * registers.
   */
  readonly maxFusedChannels: number;
  /** Bytes of workgroup memory that a kernel of a problem with such head sizes needs. */
  workgroupMemory(role: TileRole, heads: Pick<AttentionProblem, 'Dqk' | 'Dv'>): number;
  /** Why a device cannot compute a kernel of a problem on this tile, or null. */
  unsupported(role: TileRole, problem: AttentionProblem, capabilities: Capabilities): string | null;
}

/**
 * The lanes of a tile, and the share of each: lane (x, y) has `rows` queries from y · rows on, and `cols`
 * vec4s of keys from 4 · x · cols on.
 */
export interface LaneGrid {
  readonly tx: number;
  readonly ty: number;
  readonly rows: number;
  readonly cols: number;
}

/** Queries (`rows`) and keys (`cols`) of a tile, and its lanes, which are those of its workgroup. */
export function tileSize({ tx, ty, rows, cols }: LaneGrid): Record<'rows' | 'cols' | 'lanes', number> {
  return { rows: ty * rows, cols: 4 * tx * cols, lanes: tx * ty };
}

/** Text for each vec4 of a lane's scores: number b, of its query r and its key vector c. */
export const perBlock = (
  { rows, cols }: LaneGrid,
  text: (b: number, r: number, c: number) => string,
): string => repeat(rows * cols, b => text(b, Math.floor(b / cols), b % cols));

/** Bytes of variables in workgroup memory: WebGPU rounds each up to 16. */
export const bytesOfVariables = (bytes: readonly number[]): number =>
  bytes.reduce((sum, each) => sum + 16 * Math.ceil(each / 16), 0);

/** Invocations that WebGPU guarantees a workgroup. */
const maxLanes = 256;

/** The rule of workgroups that a grid breaks, or null. */
export const brokenGridRule = (grid: LaneGrid): string | null => {
  const { lanes } = tileSize(grid);
  return isCount(lanes) && lanes <= maxLanes ? null : `must have 1 to ${maxLanes} lanes, got ${lanes}`;
};

/** Why a device has too little workgroup memory for a kernel, or null. `hint` says what takes less. */
export const memoryReason = (
  bytes: number,
  { maxComputeWorkgroupStorageSize: available }: Capabilities,
  hint: string,
): string | null =>
  bytes > available
    ? `needs ${bytes} bytes of workgroup memory, and the device has ${available}; ${hint}`
    : null;

/** Head size up to which lanes or subgroups hold whole rows. */
export const maxStationaryChannels = 128;

/** Why a tile that holds whole rows of one side is not for a kernel, or null. */
export function roleReason(role: TileRole, stationary: Stationary): string | null {
  if (role === 'decode') return 'must be of kind workgroup for few queries';
  const needed = stationaryOf(role);
  return stationary === needed ? null : `must have stationary ${needed}, got ${stationary}`;
}

/** Why a tile that holds whole rows of one side cannot compute a kernel, or null. */
export const stationaryReason = (
  stationary: Stationary,
  role: TileRole,
  { Dqk, Dv }: AttentionProblem,
): string | null =>
  roleReason(role, stationary) ??
  (Math.max(Dqk, Dv) > maxStationaryChannels
    ? `must be of kind workgroup for head sizes above ${maxStationaryChannels}`
    : null);
