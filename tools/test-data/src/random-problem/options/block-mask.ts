import { option, type RandomOption } from '../option.ts';
import { strided } from '../strided-data.ts';

const tile = 128;

/** One bit per 128 × 128 tile. Problems with one are longer, so that there are several. */
export const blockMask: RandomOption = option({
  name: 'blockMask',
  kind: 'structure',
  values: [false, true],
  size(draft, value) {
    if (!value) return;
    const { random } = draft;
    const long = random.chance(0.5) ? 140 : 0;
    // What is empty or short stays so.
    if (draft.Sq > 16) draft.Sq += long;
    if (draft.Skv > 0) draft.Skv += long;
    if (long > 0) draft.B = Math.min(draft.B, 2);
  },
  add(draft, value) {
    if (!value) return;
    const { random, B, Hq, Sq, Skv } = draft;
    const shape = [
      random.pick([1, B]),
      random.pick([1, Hq]),
      Math.ceil(Sq / tile),
      Math.ceil(Math.ceil(Skv / tile) / 8),
    ];
    draft.options.blockMask = strided(shape, { dtype: 'u8' }, () => random.integer(0, 255));
  },
});
