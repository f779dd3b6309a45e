import { type TileBackend, weightedPart } from '../interface/tile-backend.ts';
import { rescaleOfLanes, resultsOfLanes } from '../interface/tile-results.ts';
import { loopedVectors } from '../scores/score-vectors.ts';
import { accumulate, begin, storeWeights } from './gemm/accumulate-gemm.ts';
import { scores } from './gemm/score-gemm.ts';
import { declarations, vectorsPerLane } from './memory.ts';
import type { WorkgroupTile } from './workgroup-tile.ts';

/** Lanes exchange operands, and the weights that they compute from scores, through workgroup memory. */
export function workgroupBackend(tile: WorkgroupTile): TileBackend {
  const { rowReduction } = tile;
  const directives = tile.stagingDType === 'f16' ? ['enable f16;'] : [];
  const own = {
    ...{ resultRows: tile.rows, resultBlock: 'ty' },
    vectors: (D: number): number => vectorsPerLane(D, tile),
    vector: (n: string): string => `${n} * ${tile.tx}u + tx`,
  };
  return {
    parts: () => [
      { directives, code: declarations(tile) },
      weightedPart,
      tile.arithmetic?.part ?? {},
      rowReduction.part(tile),
    ],
    lane: rowReduction.lane(tile),
    scoreVectors: tile.unrolling?.scoreVectors(tile) ?? loopedVectors(tile),
    loadStationary: () => '',
    scores: (gemms, [first]) => `${scores(tile, gemms)}\n    ${first ? begin(tile, first) : ''}`,
    reduceRows: reduction => rowReduction.reduceRows(tile, reduction),
    accumulate: (_, sums) =>
      sums
        .map(
          (sum, n) =>
            `${rescaleOfLanes(own, sum)}\n    ${storeWeights(tile, sum)}\n    ${accumulate(tile, sum, n === 0)}`,
        )
        .join('\n    workgroupBarrier();\n    '),
    ...resultsOfLanes(own),
  };
}
