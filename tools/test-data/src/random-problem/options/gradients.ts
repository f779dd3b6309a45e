import { option, type RandomOption } from '../option.ts';

/** Which gradients are asked for; `other` are those of bias, sinks and slopes. */
export const gradients: RandomOption = option({
  name: 'gradients',
  kind: 'structure',
  values: ['all', 'dq', 'dk', 'dv', 'dk dv', 'other'],
  fits: (value, { bias, sink, alibi }) =>
    value !== 'other' || bias !== null || sink === true || alibi === 'slopes',
  add({ options, choice }, value) {
    const { bias, sink, alibi } = choice;
    const others = [bias !== null && 'dbias', sink && 'dsink', alibi === 'slopes' && 'dAlibi'];
    if (value === 'other') options.gradients = others.filter(Boolean);
    else if (value !== 'all') options.gradients = value.split(' ');
  },
});
