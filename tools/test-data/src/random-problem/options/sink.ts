import { option, type RandomOption } from '../option.ts';
import { strided } from '../strided-data.ts';

export const sink: RandomOption = option({
  name: 'sink',
  kind: 'structure',
  values: [false, true],
  add({ options, random, Hq }, value) {
    if (!value) return;
    const logits = strided([Hq], { dtype: 'f32' }, () => random.normal());
    options.sink = random.chance(0.5) ? logits : [...logits.data];
  },
});
