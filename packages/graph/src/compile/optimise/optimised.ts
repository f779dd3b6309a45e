import type { Program } from '../../ir/program/program.ts';
import type { EngineTraits } from '../engine-traits.ts';
import { copiesAsViews } from './copies/copies-as-views.ts';
import { elideCopies } from './copies/elide-copies.ts';
import { writeOutputs } from './copies/write-outputs.ts';
import { foldBatchSums } from './fold-batch-sums.ts';
import { foldConstants } from './fold-constants.ts';
import { fuseEpilogues } from './fuse/fuse-epilogues.ts';
import { fuseMaps } from './fuse/fuse-maps.ts';
import { fuseRows } from './fuse/fuse-rows.ts';
import { keepNarrow } from './keep-narrow.ts';
import { narrowResults } from './narrow-results.ts';
import { reuseReductions } from './reuse-reductions.ts';

/** Optimises a program: fewer steps, same results. */
export function optimised(program: Program, { readsViews, onDevice }: EngineTraits): Program {
  const views = readsViews ? copiesAsViews(narrowResults(keepNarrow(program))) : elideCopies(program);
  const folded = foldConstants(reuseReductions(foldBatchSums(views)));
  return onDevice ? fuseRows(fuseMaps(fuseEpilogues(folded), true)) : writeOutputs(fuseMaps(folded));
}
