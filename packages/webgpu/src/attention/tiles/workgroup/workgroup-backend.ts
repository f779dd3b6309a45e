import { laneGrid, type WorkgroupTile } from '../tile.ts';
import { rescaleOfLanes, resultsOfLanes, type TileWork, weightedPart } from '../tile-backend.ts';
import { accumulate, begin, storeWeights } from './accumulate-gemm.ts';
import { declarations, vectorsPerLane } from './memory.ts';
import { statisticsOf } from './row-reduction.ts';
import { products } from './score-gemm.ts';

/** The lane's scores and weights meet the operands in workgroup memory. */
export function workgroupWork(tile: WorkgroupTile): TileWork {
  const directives = tile.pool === 'f16' ? ['enable f16;'] : [];
  const statistics = statisticsOf(tile);
  const own = {
    ...{ resultRows: laneGrid(tile).rows, resultPlace: 'ty' },
    vectors: (D: number): number => vectorsPerLane(D, tile),
    vector: (n: number): string => `${n * tile.tx}u + tx`,
  };
  return {
    parts: () => [
      { directives, code: declarations(tile) },
      weightedPart,
      tile.variants?.arithmetic?.part ?? {},
      statistics.part(tile),
    ],
    place: statistics.place(tile),
    keep: () => '',
    products: (all, [first]) => `${products(tile, all)}\n    ${first ? begin(tile, first) : ''}`,
    statistic: statistic => statistics.statistic(tile, statistic),
    accumulate: (_, ...sums) =>
      sums
        .map(
          (sum, n) =>
            `${rescaleOfLanes(own, sum)}\n    ${storeWeights(tile, sum)}\n    ${accumulate(tile, sum, n === 0)}`,
        )
        .join('\n    workgroupBarrier();\n    '),
    ...resultsOfLanes(own),
  };
}
