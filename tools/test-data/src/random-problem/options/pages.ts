import { type Needs, option, type RandomOption } from '../option.ts';

/** k and v in pages, behind a table; both, or one of them. Pages may be shared, so there is no backward. */
export const pages: RandomOption = option({
  name: 'pages',
  kind: 'structure',
  values: [null, 'k and v', 'k', 'packed k and v'],
  needs: (value): Needs =>
    value === null ? {} : { lengths: ['kv', 'both'], gradients: ['all'], dLse: [false] },
  size(draft, value) {
    const { random, pageSize } = draft;
    if (value === null) return;
    draft.backward = false;
    draft.packedPages = value.startsWith('packed');
    pageSize.k = random.pick([1, 4, 16, 32]);
    if (value !== 'k') pageSize.v = random.pick([1, 4, 16, 32]);
  },
});
