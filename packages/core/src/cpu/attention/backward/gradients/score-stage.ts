import type { AttentionProblem } from '../../../../attention/problem/problem.ts';
import type { Panel } from '../../../kernels/memory/memory.ts';
import type { ScoreTile } from '../../tiles/score-tile.ts';
import { roundTile } from '../../tiles/stages/fp8.ts';
import { paddedElements } from '../../tiles/tile-size.ts';
import type { BackwardInputs } from '../inputs/inputs.ts';
import type { HeadGradient } from './head-gradient.ts';
import type { QueryGradient } from './query-gradient.ts';
import type { ConsumeTile } from './score-gradients.ts';

/** The stage of a tile that ends in dq and dk. */
export interface ScoreStage {
  /** Adds a tile, whose probabilities have replaced its scores. */
  add(tile: ScoreTile): void;
  /** The largest magnitude of ∂L/∂(q·k) before rounding, for FP8 problems. */
  amax(): number;
}

/** What follows from the gradients of scores besides dq and dk. */
export interface ScoreConsumers {
  /** For the gradients of final scores. */
  readonly final: readonly ConsumeTile[];
  /**
   * For the gradients of the scores that the score mod gives, before softcap; the last one leaves ∂L/∂(q·k).
   */
  readonly modified: readonly ConsumeTile[];
}

/**
 * Computes dP = dO·vᵀ and dS = p∘(z∘dP − delta). dS goes to the gradients of what the scores depend on and
 * then, as ∂L/∂(q·k), to dq += dS·k and dk += dSᵀ·q.
 */
export function createScoreStage(
  problem: AttentionProblem,
  { kernels, size, tiles, fp8, rows: given, blocks, q, k, dO8 }: BackwardInputs,
  dq: QueryGradient | null,
  dk: HeadGradient | null,
  { final, modified }: ScoreConsumers,
): ScoreStage {
  const { scores: p, softcap, ld, v, dropout } = tiles;
  const T = size.columns;
  const dS = kernels.memory.floats(paddedElements(size));
  let amax = 0;

  /** Rounds ∂L/∂(q·k) for dq in place, and returns it in the form that dk needs. */
  function rounded({ rows, columns }: ScoreTile): Panel {
    const { values } = dS;
    for (let n = 0; n < rows * T; n++) values[n] *= problem.scale;
    if (!blocks) {
      amax = Math.max(amax, roundTile(values, T, rows, columns, fp8, fp8.scaleDP));
      return dS;
    }
    for (let i = 0; i < rows; i++) {
      for (let at = i * T; at < i * T + columns; at++) amax = Math.max(amax, Math.abs(values[at]));
    }
    return blocks.round(values, T, rows, columns);
  }

  return {
    amax: () => amax,
    add(tile) {
      const { rows, columns, j0, index } = tile;
      const ranges = tiles.ranges();
      v.load(index);
      const [at, factor] = [v.columnsAt(index), fp8.descaleDO * fp8.descaleV];
      kernels.multiplyScores(rows, columns, problem.Dv, dO8.at, dO8.ld, at, dS.at, ld, factor, ranges, j0);
      dropout?.drop(dS.at, dS.at, ld, rows, columns);
      kernels.toScoreGradients(rows, columns, dS.at, p.at, ld, given.deltaAt);
      for (const consume of final) consume(dS.values, T, tile);
      softcap?.differentiate(dS, rows);
      for (const consume of modified) consume(dS.values, T, tile);
      const forK = problem.fp8 ? rounded(tile) : dS;
      dq?.add(tile, dS, ld, k, ranges);
      dk?.add(tile, forK, ld, q, ranges);
    },
  };
}
