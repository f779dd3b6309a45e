import type { AttentionProblem, TensorDesc } from '@tilewise/core';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import type { Tile } from '../tiles/tile.ts';

/**
 * One step between q·k and the softmax. `apply` works on four adjacent scores of one query, with these names
 * in scope: `s: vec4f`, the scores so far; `slope: vec4f` = ds/d(q·k); `visible: vec4<bool>`; and `seq`, `h`,
 * `i` and `j` (the first of the four keys). A stage that changes `s` non-linearly multiplies `slope` by its
 * derivative; backward needs nothing else.
 */
export interface ScoreStage extends ShaderPart {
  readonly apply: string;
  /** Whether the stage may hide keys in a tile that lengths and band leave fully visible. */
  readonly masks: boolean;
  /**
   * WGSL condition, the same for all lanes: whether the stage leaves any pair visible in the tile of head `h`
   * that starts at query `i0` and key `j0`. Kernels skip all other tiles, so `apply` need not hide them.
   */
  readonly isVisibleTile?: string;
}

/** How a kernel uses its scores. */
export interface ScoreUse {
  /**
   * The kernel's tile, if all rows of a tile are queries of one head; otherwise null, and no tile is skipped
   * as a whole.
   */
  readonly tile: Tile | null;
  /** What `slope` contains: nothing, ds/d(q·k), or the derivative of s by the output of the score mod. */
  readonly slope: 'none' | 'by q·k' | 'by the modified score';
  /**
   * `TileBackend.markRows`, by which the kernel itself marks rows with NaN or +Infinity. Without it, `score4`
   * marks such scores if `slope` is `none`.
   */
  readonly markRows?: string;
  /** Writes the mods of the problem as WGSL, if it has any. */
  readonly mods?: ModStages;
}

/** The stages of score and mask mods. */
export interface ModStages {
  readonly score: ScoreStageFactory;
  readonly mask: ScoreStageFactory;
  /** Reads a captured tensor. */
  capture(name: string, desc: TensorDesc): ShaderPart;
}

/** Makes a stage for a problem; null if the problem does not need the stage. */
export type ScoreStageFactory = (problem: AttentionProblem, use: ScoreUse) => ScoreStage | null;
