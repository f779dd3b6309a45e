import { laneGrid, type WorkgroupTile } from './tile.ts';
import { resultsOfLanes, type TileWork, weightedPart } from './tile-work.ts';
import { declarations, vectorsPerLane } from './workgroup-layout.ts';
import { products } from './workgroup-products.ts';
import { accumulate, begin, storeWeights } from './workgroup-results.ts';
import { statisticsOf } from './workgroup-statistics.ts';

/** The lane's scores and weights meet the operands in workgroup memory. */
export function workgroupWork(tile: WorkgroupTile): TileWork {
  const directives = tile.pool === 'f16' ? ['enable f16;'] : [];
  const statistics = statisticsOf(tile);
  return {
    parts: [
      { directives, code: declarations(tile) },
      weightedPart,
      tile.variants?.arithmetic?.part ?? {},
      statistics.part(tile),
    ],
    place: statistics.place(tile),
    keep: () => '',
    products: all => products(tile, all),
    statistic: statistic => statistics.statistic(tile, statistic),
    begin: sum => begin(tile, sum),
    accumulate: (_, ...sums) =>
      sums
        .map((sum, n) => `${storeWeights(tile, sum)}\n    ${accumulate(tile, sum, n === 0)}`)
        .join('\n    workgroupBarrier();\n    '),
    ...resultsOfLanes({
      resultRows: laneGrid(tile).rows,
      resultPlace: 'ty',
      vectors: D => vectorsPerLane(D, tile),
      vector: n => `${n * tile.tx}u + tx`,
    }),
  };
}
