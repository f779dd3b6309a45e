import { rowShape } from '../draft.ts';
import { option, type RandomOption } from '../option.ts';
import { strided } from '../strided-data.ts';

/** A gradient of lse as an input of backward. */
export const dLse: RandomOption = option({
  name: 'dLse',
  kind: 'structure',
  values: [false, true],
  add(draft, value) {
    const { random, backwardInputs } = draft;
    if (value) backwardInputs.dLse = strided(rowShape(draft), { dtype: 'f32' }, () => random.normal());
  },
});
