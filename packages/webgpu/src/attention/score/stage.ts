import type { AttentionProblem, TensorDesc } from '@tilewise/core';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import type { Tile } from '../tiles/tile.ts';

/**
 * One step between q·k and the softmax. `apply` works on four neighbouring scores of one query, with `s:
 * vec4f` the scores so far, `slope: vec4f` = ds/d(q·k), `visible: vec4<bool>`, and `seq`, `h`, `i`, `j` (the
 * first of the four keys) in scope. A stage that changes `s` non-linearly multiplies its derivative into
 * `slope`: backward needs nothing else.
 */
export interface ScoreStage extends ShaderPart {
  readonly apply: string;
  /** The stage may hide keys within a tile that lengths and band show whole. */
  readonly masks: boolean;
  /**
   * WGSL condition, the same for all lanes: whether the stage shows any of the tile of queries from `i0` and
   * keys from `j0` of head `h`. Kernels leave the other tiles out, so `apply` need not hide them.
   */
  readonly isVisibleTile?: string;
}

/** How a kernel uses its scores. */
export interface ScoreUse {
  /**
   * The kernel's tiles, if all rows of one are queries of one head; else null, and no tile is left out as a
   * whole.
   */
  readonly tile: Tile | null;
  /** The use of `slope`: none, ds/d(q·k), or ds by the score that the score mod gives. */
  readonly slope: 'none' | 'by q·k' | 'by the modified score';
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

/** A stage for a problem, or null when the problem has no use for it. */
export type ScoreStageFactory = (problem: AttentionProblem, use: ScoreUse) => ScoreStage | null;
