import { option, type RandomOption } from '../option.ts';

/** Causal masks and windows, on both diagonals. */
export const band: RandomOption = option({
  name: 'band',
  kind: 'number',
  values: [
    'none',
    'causal',
    'causal bottom-right',
    'window',
    'window bottom-right',
    'causal with window',
    'left only',
    'alignment alone',
  ],
  add({ options, random, Sq, Skv }, value) {
    const reach = (): number => random.integer(0, random.chance(0.3) ? 3 : Math.max(Sq, Skv, 1));
    const [left, right] = [reach(), reach()];
    if (value === 'causal') options.causal = random.pick([true, 'top-left'] as const);
    if (value === 'causal bottom-right') options.causal = 'bottom-right';
    if (value === 'window') options.window = { left, right };
    if (value === 'window bottom-right') options.window = { left, right, align: 'bottom-right' };
    if (value === 'causal with window')
      Object.assign(options, { causal: random.pick([true, 'bottom-right']), window: { left, right } });
    if (value === 'left only')
      options.window = { left, align: random.pick(['top-left', 'bottom-right'] as const) };
    if (value === 'alignment alone') options.window = { align: 'bottom-right' };
  },
});
