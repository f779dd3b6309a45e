import { option, type RandomOption } from '../option.ts';

export const scale: RandomOption = option({
  name: 'scale',
  kind: 'number',
  values: ['default', 'any', 'zero'],
  add(draft, value) {
    if (value === 'any') draft.options.scale = draft.random.uniform() - 0.5;
    if (value === 'zero') draft.options.scale = 0;
  },
});
