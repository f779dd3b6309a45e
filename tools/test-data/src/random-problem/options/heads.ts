import { option, type RandomOption } from '../option.ts';

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
