import { option, type RandomOption } from '../option.ts';

/** How long the sequences are, from none to several tiles. */
export const extents: RandomOption = option({
  name: 'extents',
  kind: 'number',
  values: ['few', 'one tile', 'tiles', 'one query', 'more queries', 'long keys', 'no keys', 'no queries'],
  size(draft, value) {
    const { random } = draft;
    draft.B = random.integer(1, 3);
    draft.Sq = random.integer(1, value === 'few' ? 6 : value === 'one tile' ? 32 : 70);
    draft.Skv = random.integer(1, value === 'few' ? 6 : value === 'one tile' ? 32 : 70);
    if (value === 'tiles') draft.Skv += 20;
    if (value === 'one query') draft.Sq = 1;
    if (value === 'more queries') draft.Sq = draft.Skv + random.integer(1, 20);
    // Few queries against many keys, which are split over workgroups.
    if (value === 'long keys') {
      draft.B = 1;
      draft.Sq = random.integer(1, 5);
      draft.Skv = random.integer(500, 700);
    }
    if (value === 'no keys') draft.Skv = 0;
    if (value === 'no queries') draft.Sq = 0;
  },
});
