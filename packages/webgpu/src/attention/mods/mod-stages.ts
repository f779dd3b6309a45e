import type { ExprTools } from '@tilewise/core/expr';
import type { ModStages } from '../score/stage.ts';
import { capturePart } from './captures.ts';
import { maskModStage, scoreModStage } from './score-mods.ts';

/** The stages of score and mask mods, whose expressions `expr` writes as WGSL. */
export function modStages(expr: ExprTools): ModStages {
  return { score: scoreModStage(expr), mask: maskModStage(expr), capture: capturePart };
}
