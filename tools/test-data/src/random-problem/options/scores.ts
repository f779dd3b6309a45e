import { type DataType, storages } from '../data/storage.ts';
import { strided } from '../data/strided-data.ts';
import { type Broadcast, broadcastTensor } from './broadcast.ts';
import {
  b,
  clamp,
  constant,
  f32,
  h,
  i32,
  kv,
  load,
  modulo,
  mul,
  add as plus,
  q,
  score,
  sub,
  tanh,
} from './expression.ts';
import { option, type RandomOption } from './option.ts';

export const scale: RandomOption = option({
  name: 'scale',
  kind: 'number',
  values: ['default', 'any', 'zero'],
  add(draft, value) {
    if (value === 'any') draft.options.scale = draft.random.uniform() - 0.5;
    if (value === 'zero') draft.options.scale = 0;
  },
});

/** Expressions of the score, with and without captured tensors. */
export const scoreMod: RandomOption = option({
  name: 'scoreMod',
  kind: 'structure',
  values: [null, 'parity', 'tanh by head', 'table', 'table of halves'],
  add({ options, random, Hq }, value) {
    if (value === 'parity')
      options.scoreMod = {
        expr: plus(mul(score, constant(0.5)), mul(f32(modulo(q, i32(3))), constant(-0.125))),
      };
    if (value === 'tanh by head')
      options.scoreMod = {
        expr: plus(mul(constant(3), tanh(mul(score, constant(0.25)))), mul(f32(plus(h, b)), constant(0.2))),
      };
    if (value?.startsWith('table')) {
      // A constant in the expression would be part of the kernels' source, which problems are meant to share.
      const reach = 3;
      const dtype = value === 'table' ? 'f32' : 'f16';
      const table = strided([Hq, 2 * reach + 1], { dtype }, () => storages[dtype].round(random.normal()));
      const distance = plus(clamp(sub(kv, q), i32(-reach), i32(reach)), i32(reach));
      options.scoreMod = { expr: plus(score, load('table', [h, distance])), captures: { table } };
    }
  },
});

export const softcap: RandomOption = option({
  name: 'softcap',
  kind: 'structure',
  values: [false, true],
  add({ options, random }, value) {
    if (value) options.softcap = 0.5 + 10 * random.uniform();
  },
});

/** An additive bias; the kernels for its gradient depend on its dimensions. */
export const bias: RandomOption = option<readonly [DataType, Broadcast] | null>({
  name: 'bias',
  kind: 'structure',
  values: [null, ['f32', 'bhij'], ['f16', 'h'], ['bf16', 'j'], ['f32', ''], ['f16', 'bi'], ['bf16', 'hij0']],
  add(draft, value) {
    if (!value) return;
    const { random } = draft;
    const [dtype, broadcast] = value;
    const hides = broadcast.includes('j') && random.chance(0.3);
    draft.options.bias = broadcastTensor(draft, dtype, broadcast, () =>
      hides && random.chance(0.2) ? -Infinity : random.normal(),
    );
  },
});

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
