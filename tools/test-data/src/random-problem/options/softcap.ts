import { option, type RandomOption } from '../option.ts';

export const softcap: RandomOption = option({
  name: 'softcap',
  kind: 'structure',
  values: [false, true],
  add({ options, random }, value) {
    if (value) options.softcap = 0.5 + 10 * random.uniform();
  },
});
