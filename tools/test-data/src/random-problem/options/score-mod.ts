import { option, type RandomOption } from '../option.ts';
import { storages } from '../storage.ts';
import { strided } from '../strided-data.ts';
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

/** Expressions of the score, with and without tensors that they load from. */
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
      // A number in the expression is one in the text of the kernels, which problems are to share.
      const reach = 3;
      const dtype = value === 'table' ? 'f32' : 'f16';
      const table = strided([Hq, 2 * reach + 1], { dtype }, () => storages[dtype].round(random.normal()));
      const distance = plus(clamp(sub(kv, q), i32(-reach), i32(reach)), i32(reach));
      options.scoreMod = { expr: plus(score, load('table', [h, distance])), captures: { table } };
    }
  },
});
