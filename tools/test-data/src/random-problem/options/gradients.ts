import { type Needs, option, type RandomOption } from '../option.ts';
import { bias } from './bias.ts';

/** Which gradients are asked for. */
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
