import type { Draft } from '../draft.ts';
import { option, type RandomOption } from '../option.ts';

/**
 * How long the sequences are. Kernels are made for few queries or for many; which numbers there are of them
 * is drawn for each problem, from none to several tiles.
 */
export const extents: RandomOption = option({
  name: 'extents',
  kind: 'structure',
  values: ['many queries', 'few queries'],
  size(draft, value) {
    const { random } = draft;
    draft.B = random.integer(1, 3);
    draft.Skv = random.integer(1, random.chance(0.3) ? 32 : 90);
    if (value === 'few queries') fewQueries(draft);
    else manyQueries(draft);
    if (random.chance(0.08)) draft.Skv = 0;
  },
});

/** One or a few, now and then against so many keys that they are split over workgroups. */
function fewQueries(draft: Draft): void {
  const { random, structureRandom } = draft;
  draft.Sq = structureRandom.pick([1, 4]);
  if (structureRandom.chance(0.7)) return;
  draft.B = 1;
  draft.Skv = random.integer(500, 700);
}

/** Less than a tile, several, more than keys, or none. */
function manyQueries(draft: Draft): void {
  const { random } = draft;
  draft.Sq = random.integer(17, random.chance(0.3) ? 32 : 70);
  if (random.chance(0.2)) draft.Sq = Math.max(17, draft.Skv + random.integer(1, 20));
  if (random.chance(0.1)) draft.Sq = 0;
}
