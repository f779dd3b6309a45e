import type { AttentionProblem } from '@tilewise/core';
import { markNonFinite } from '../../codegen/formats/float-bits.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import { alibiStage } from './alibi.ts';
import { biasStage } from './bias.ts';
import { blockMaskStage } from './block-mask.ts';
import { maskStage } from './mask.ts';
import { descaleStage, scaleStage } from './scale.ts';
import { softcapStage } from './softcap.ts';
import type { ScoreStageFactory, ScoreUse } from './stage.ts';

/** All stages, in the order in which a score passes them. A new stage is a file and a line here. */
const stages: readonly ScoreStageFactory[] = [
  descaleStage,
  scaleStage,
  (problem, use) => use.mods?.score(problem, use) ?? null,
  softcapStage,
  biasStage,
  alibiStage,
  maskStage,
  blockMaskStage,
  (problem, use) => use.mods?.mask(problem, use) ?? null,
];

/**
 * `score4(seq, h, i, j, dots, full_tile) -> Score4`: the final scores of query i and keys j to j + 3,
 * computed from their products q·k. In a full tile, lengths and band allow all pairs. If slopes are by the
 * modified score, `unmodified` is the input of the score mod.
 */
export function scorePart(
  problem: AttentionProblem,
  use: ScoreUse,
): {
  readonly parts: readonly ShaderPart[];
  /** Whether keys may be masked in tiles for which `tile_inside` is true. */
  readonly masks: boolean;
  /**
   * WGSL condition, the same for all lanes: whether any pair of the tile at `i0` and `j0` may be visible; ''
   * if some pair always is.
   */
  readonly isVisibleTile: string;
} {
  const active = stages.flatMap(stage => stage(problem, use) ?? []);
  const captures = Object.entries(problem.captures).flatMap(
    ([name, desc]) => use.mods?.capture(name, desc) ?? [],
  );
  const isVisibleTile = active.flatMap(stage => stage.isVisibleTile ?? []).join(' && ');
  const keepsUnmodified = use.slope === 'by the modified score';
  // Backward recognises such rows by their lse.
  const marks = use.slope === 'none' && !use.markRows;
  const code = `struct Score4 {
  value: vec4f,
  slope: vec4f,
  visible: vec4<bool>,
  ${keepsUnmodified ? 'unmodified: vec4f,' : ''}
}

fn score4(seq: Sequence, h: u32, i: u32, j: u32, dots: vec4f, full_tile: bool) -> Score4 {
  var s = dots;
  var slope = vec4f(1.0);
  var visible = vec4<bool>(true);
  if (!full_tile) {
    visible = in_range4(seq, i, j);
  }
  ${active
    .map(stage => stage.apply)
    .filter(Boolean)
    .join('\n')}
  return Score4(${marks ? 'mark_non_finite(s)' : 's'}, slope, visible${keepsUnmodified ? ', unmodified' : ''});
}`;
  return {
    parts: [...captures, ...active, { code, requires: marks ? [markNonFinite] : [] }],
    masks: active.some(stage => stage.masks),
    isVisibleTile,
  };
}
