import { strided } from '../data/strided-data.ts';
import { rowShape } from '../draft.ts';
import { type Needs, option, type RandomOption } from './option.ts';
import { bias } from './scores.ts';

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

/** The requested gradients. */
export const gradients: RandomOption = option({
  name: 'gradients',
  kind: 'structure',
  values: ['all', 'dq', 'dk', 'dv', 'dbias', 'dsink', 'dAlibi'],
  needs: (value): Needs => {
    if (value === 'dbias') return { bias: bias.values.filter(one => one !== null) };
    if (value === 'dsink') return { sink: [true] };
    return value === 'dAlibi' ? { alibi: ['slopes'] } : {};
  },
  add({ options }, value) {
    if (value !== 'all') options.gradients = [value];
  },
});

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
