import { option, type RandomOption } from '../option.ts';
import { strided } from '../strided-data.ts';

export const alibi: RandomOption = option({
  name: 'alibi',
  kind: 'structure',
  values: [false, 'standard', 'slopes'],
  add({ options, random, Hq }, value) {
    if (value === 'standard') options.alibi = true;
    if (value !== 'slopes') return;
    const slopes = strided([Hq], { dtype: 'f32' }, () => Math.abs(random.normal()) / 8);
    options.alibi = random.chance(0.5) ? slopes : [...slopes.data];
  },
});
