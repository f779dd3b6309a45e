import { option, type RandomOption } from '../option.ts';

/** Dqk and Dv, which differ. Rows of multiples of four channels are moved as vectors. */
export const headSizes: RandomOption = option({
  name: 'head sizes',
  kind: 'structure',
  values: ['vectors', 'any', 'wide'],
  size(draft, value) {
    const { random } = draft;
    const draw = (): number => {
      if (value === 'vectors') return 4 * random.integer(1, 8);
      return value === 'any' ? random.integer(1, 31) : random.integer(33, 61);
    };
    draft.Dqk = draw();
    draft.Dv = draw();
  },
});
