import { strided } from '../data/strided-data.ts';
import { anyBroadcast, broadcastTensor } from './broadcast.ts';
import { b, binary, i32, kv, load, modulo, q, sub } from './expression.ts';
import { option, type RandomOption } from './option.ts';

/** A boolean mask that hides some keys, and sometimes whole rows. */
export const mask: RandomOption = option({
  name: 'mask',
  kind: 'structure',
  values: [false, true],
  add(draft, value) {
    if (!value) return;
    const { random } = draft;
    const visible = random.pick([0.1, 0.7, 0.95]);
    draft.options.mask = broadcastTensor(
      draft,
      random.pick(['bool', 'u8'] as const),
      anyBroadcast(draft),
      () => Number(random.chance(visible)),
    );
  },
});

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

const tile = 128;

/** One bit per 128 × 128 tile. Problems with a block mask are longer, so that they have several tiles. */
export const blockMask: RandomOption = option({
  name: 'blockMask',
  kind: 'structure',
  values: [false, true],
  size(draft, value) {
    if (!value) return;
    const { random } = draft;
    const long = random.chance(0.5) ? 140 : 0;
    // Empty and short extents stay as they are.
    if (draft.Sq > 16) draft.Sq += long;
    if (draft.Skv > 0) draft.Skv += long;
    if (long > 0) draft.B = Math.min(draft.B, 2);
  },
  add(draft, value) {
    if (!value) return;
    const { random, B, Hq, Sq, Skv } = draft;
    const shape = [
      random.pick([1, B]),
      random.pick([1, Hq]),
      Math.ceil(Sq / tile),
      Math.ceil(Math.ceil(Skv / tile) / 8),
    ];
    draft.options.blockMask = strided(shape, { dtype: 'u8' }, () => random.integer(0, 255));
  },
});

/** Expressions that decide which keys are visible. */
export const maskMod: RandomOption = option({
  name: 'maskMod',
  kind: 'structure',
  values: [null, 'dilated', 'documents'],
  add({ options, random, B, Sq, Skv }, value) {
    if (value === 'dilated')
      options.maskMod = { expr: binary('eq', 'bool', modulo(sub(kv, q), i32(2)), i32(0)) };
    if (value !== 'documents') return;
    const documents = strided([B, Math.max(Sq, Skv, 1)], { dtype: 'i32' }, () => random.integer(0, 2));
    const of = (position: typeof q) => load('documents', [b, position], 'i32');
    options.maskMod = { expr: binary('eq', 'bool', of(q), of(kv)), captures: { documents } };
  },
});
