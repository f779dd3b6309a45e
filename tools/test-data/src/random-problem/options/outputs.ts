import { option, type RandomOption } from '../option.ts';

/** Results besides o and lse. */
export const outputs: RandomOption = option({
  name: 'outputs',
  kind: 'structure',
  values: ['none', 'rows', 'dropoutMask'],
  add({ options }, value) {
    if (value === 'rows') options.outputs = { max: true, sumExp: true };
    if (value === 'dropoutMask') options.outputs = { dropoutMask: true };
  },
});
