import { option, type RandomOption } from '../option.ts';

/** Dqk and Dv, which differ. Rows of multiples of four channels are moved as vectors. */
export const headSizes: RandomOption = option({
  name: 'head sizes',
  kind: 'structure',
  values: ['vectors', 'any', 'wide'],
  size(draft, value) {
    const { random } = draft;
    // Never a multiple of four where that is the point, as kernels depend on it.
    const draw = (): number => {
      if (value === 'any') return 4 * random.integer(0, 7) + random.integer(1, 3);
      return 4 * (value === 'vectors' ? random.integer(1, 8) : random.integer(9, 15));
    };
    draft.Dqk = draw();
    draft.Dv = draw();
  },
});
