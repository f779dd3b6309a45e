import type { BindingRoom } from '../kernel/crowding.ts';
import type { Segments } from './segments.ts';
import type { Tile } from './tile.ts';
import type { KernelTools } from './tools.ts';

/** 32 × 32 scores on 64 lanes: fits the 16 KiB of workgroup memory that WebGPU guarantees, at every head size. */
export const defaultTile: Tile = { tx: 8, ty: 8, depth: 8 };

/**
 * Tiles of forward, the first that has room for all rows of a problem (queries, of all heads that share tiles) and its Dv:
 * few rows get few lanes but many keys; a large Dv lies on more lanes, so that each has fewer accumulators.
 */
export const forwardTiles: readonly {
  readonly upTo: { readonly rows: number; readonly Dv: number };
  readonly tile: Tile;
}[] = [
  { upTo: { rows: 4, Dv: 512 }, tile: { tx: 32, ty: 1, depth: 4 } },
  { upTo: { rows: 8, Dv: 256 }, tile: { tx: 16, ty: 2, depth: 8 } },
  { upTo: { rows: 16, Dv: 512 }, tile: { tx: 16, ty: 4, depth: 6 } },
  { upTo: { rows: Infinity, Dv: 256 }, tile: defaultTile },
  { upTo: { rows: Infinity, Dv: 512 }, tile: { tx: 16, ty: 4, depth: 6 } },
];

/** How kernels of one problem are made. */
export interface KernelConfig {
  /** Tensors that do not start at a multiple of four elements: they are moved element by element. */
  readonly unaligned: ReadonlySet<string>;
  readonly tools: KernelTools;
  /** What decides which small tensors crowded kernels do not bind. */
  readonly room: BindingRoom;
  /** Operands to read in segments. Default: none. */
  readonly segments?: Segments;
}

/** The same for kernels that work on tiles of their own. */
export interface TileConfig extends KernelConfig {
  readonly tile: Tile;
}

/** Channels up to which one kernel holds the accumulators of both dK and dV in registers. */
export const maxChannelsForFusedKeyGradients = 256;
