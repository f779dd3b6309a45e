import { describe, expect, it } from 'vitest';
import { Tensor } from '../../tensor/tensor.ts';
import {
  abs,
  add,
  and,
  constant,
  div,
  floorDiv,
  ge,
  h,
  kv,
  le,
  load,
  lt,
  mod,
  mul,
  neg,
  not,
  pow,
  q,
  score,
  select,
  sub,
  tanh,
} from '../build.ts';
import { differentiate } from '../differentiate.ts';
import { slidingWindowMask } from '../mods/mask-mods.ts';
import { alibiMod, softcapMod } from '../mods/score-mods.ts';
import type { Expr } from '../nodes/expr.ts';
import { type WgslNames, writeWgsl } from './wgsl.ts';

const names: WgslNames = {
  variables: { score: 's', b: 'b', h: 'h', q: 'i', kv: 'j' },
  load: (name, index, type) => `load_${name}_${type}(${index.join(', ')})`,
};
const value = (expr: Expr) => writeWgsl(expr, names).value;

describe('writeWgsl', () => {
  it('puts every operation in parentheses', () => {
    expect(value(mul(add(score, 1), sub(score, 2)))).toBe('((s + 1f) * (s - 2f))');
    expect(value(sub(score, neg(score)))).toBe('(s - (-s))');
    expect(value(and(not(lt(q, kv)), ge(kv, 0)))).toBe('((!(i < j)) && (j >= 0i))');
  });

  it('writes literals with their type, and negative ones in parentheses', () => {
    expect(value(add(q, -3))).toBe('(i + (-3i))');
    expect(value(constant(-(2 ** 31), 'i32'))).toBe('i32(-2147483648)');
    expect(value(constant(true))).toBe('true');
    expect([0, -0, 0.1, 1 / 3, 1e20, 1e-7, -2.5].map(x => value(constant(x)))).toEqual([
      '0f',
      '(-0f)',
      '0.1f',
      '0.33333334f',
      '100000000000000000000f',
      '1e-7f',
      '(-2.5f)',
    ]);
  });

  it('writes numbers beyond f32 as the largest finite value', () => {
    expect(value(constant(-Infinity))).toBe('(-3.4028234663852886e+38f)');
    expect(value(constant(1e300))).toBe('3.4028234663852886e+38f');
  });

  it('compares with an infinity by the operands, and by the bits of loaded values', () => {
    const bits: WgslNames['bits'] = (name, index) => `bits_${name}(${index.join(', ')})`;
    const halved = mul(add(score, load('t', [kv])), 0.5);
    const written = writeWgsl(le(halved, -Infinity), { ...names, bits });
    expect(written.value).toBe('(bits_t(j) == 0xff800000u)');
    expect(value(le(load('t', [kv]), -Infinity))).toBe('(bitcast<u32>(load_t_f32(j)) == 0xff800000u)');
  });

  it('reads captures through the given function', () => {
    expect(value(load('ids', [add(q, 1), kv], 'i32'))).toBe('load_ids_i32((i + 1i), j)');
    expect(value(alibiMod(Tensor.zeros([2])).expr)).toBe(
      '(s - (load_alibiSlopes_f32(h) * f32(abs((i - j)))))',
    );
  });

  it('calls functions where WGSL differs', () => {
    expect(value(floorDiv(q, 4))).toBe('expr_floor_div(i, 4i)');
    expect(value(mod(sub(q, kv), 2))).toBe('expr_mod((i - j), 2i)');
    expect(value(pow(score, 2))).toBe('expr_pow(s, 2f)');
    expect(value(tanh(score))).toBe('expr_tanh(s)');
  });

  it('writes masks and selections', () => {
    expect(value(slidingWindowMask({ left: 2, right: 0 }).expr)).toBe('((j >= (i - 2i)) && ((j - 0i) <= i))');
    expect(value(select(lt(q, kv), div(score, 2), 0))).toBe('select(0f, (s / 2f), (i < j))');
  });

  it('computes a repeated node once', () => {
    expect(writeWgsl(differentiate(softcapMod(2).expr), { ...names, prefix: 'd' })).toEqual({
      statements: 'let d0 = expr_tanh((s / 2f));',
      value: '(2f * ((1f - (d0 * d0)) * 0.5f))',
    });
    const distance = () => abs(sub(q, kv));
    expect(writeWgsl(add(mul(distance(), distance()), load('t', [h])), names)).toEqual({
      statements: 'let e0 = abs((i - j));',
      value: '(f32((e0 * e0)) + load_t_f32(h))',
    });
  });

  it('stays linear in the number of nodes', () => {
    let x = add(score, 1);
    for (let n = 0; n < 50; n++) x = mul(x, x);
    expect(writeWgsl(x, names).statements.split('\n')).toHaveLength(50);
  });

  it('names a variable or reader that is missing', () => {
    expect(() => writeWgsl(score, { variables: {} })).toThrow(/^names.variables must name 'score'/);
    expect(() => writeWgsl(load('t', [0]), { variables: {} })).toThrow(/^names.load must be given/);
  });
});
