import type { Draft } from '../draft.ts';
import { option, type RandomOption } from './option.ts';

/**
 * The lengths of the sequences. There are kernels for few queries and for many; the number of queries is
 * drawn for each problem, from none to several tiles.
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

/** One query or a few, sometimes against so many keys that the keys are split over workgroups. */
function fewQueries(draft: Draft): void {
  const { random, structureRandom } = draft;
  draft.Sq = structureRandom.pick([1, 4]);
  if (structureRandom.chance(0.7)) return;
  draft.B = 1;
  draft.Skv = random.integer(500, 700);
}

/** Fewer queries than a tile, several tiles, more queries than keys, or none. */
function manyQueries(draft: Draft): void {
  const { random } = draft;
  draft.Sq = random.integer(17, random.chance(0.3) ? 32 : 70);
  if (random.chance(0.2)) draft.Sq = Math.max(17, draft.Skv + random.integer(1, 20));
  if (random.chance(0.1)) draft.Sq = 0;
}

/** Query heads that share keys and values; Hk and Hv may differ. */
export const heads: RandomOption = option({
  name: 'heads',
  kind: 'structure',
  values: ['equal', 'grouped', 'unequal'],
  size(draft, value) {
    const { structureRandom: random } = draft;
    draft.Hk = random.integer(1, 2);
    draft.Hv = draft.Hk;
    if (value === 'unequal')
      [draft.Hk, draft.Hv] = random.pick([
        [1, 2],
        [2, 1],
        [3, 1],
        [2, 4],
      ] as const);
    draft.Hq = Math.max(draft.Hk, draft.Hv) * (value === 'grouped' ? random.integer(2, 3) : 1);
  },
});

/** Dqk and Dv, which differ. Rows with a multiple of four channels are moved as vectors. */
export const headSizes: RandomOption = option({
  name: 'head sizes',
  kind: 'structure',
  values: ['vectors', 'any', 'wide'],
  size(draft, value) {
    const { random } = draft;
    // Never a multiple of four if that is what the value tests, because kernels depend on it.
    const draw = (): number => {
      if (value === 'any') return 4 * random.integer(0, 7) + random.integer(1, 3);
      return 4 * (value === 'vectors' ? random.integer(1, 8) : random.integer(9, 15));
    };
    draft.Dqk = draw();
    draft.Dv = draw();
  },
});
