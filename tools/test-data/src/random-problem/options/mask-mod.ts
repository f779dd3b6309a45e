import { option, type RandomOption } from '../option.ts';
import { strided } from '../strided-data.ts';
import { b, binary, i32, kv, load, modulo, q, sub } from './expression.ts';

/** Expressions that say which keys may be seen. */
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
