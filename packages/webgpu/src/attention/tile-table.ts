import type { ExprTools } from '@tilewise/core/expr';
import type { Tile } from './tile.ts';

/** 32 × 32 scores on 64 lanes: fits the 16 KiB of workgroup memory that WebGPU guarantees, at every head size. */
export const defaultTile: Tile = { tx: 8, ty: 8, depth: 8 };

/** How kernels of one problem are made. */
export interface KernelConfig {
  readonly tile: Tile;
  /** Tensors that do not start at a multiple of four elements: they are moved element by element. */
  readonly unaligned: ReadonlySet<string>;
  /** What writes score and mask mods as WGSL; null where a problem has none. */
  readonly tools: ExprTools | null;
}

/** Channels up to which one kernel holds the accumulators of both dK and dV in registers. */
export const maxChannelsForFusedKeyGradients = 256;
