import { describe, expect, it } from 'vitest';
import { InvalidArgumentError } from '../../errors.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { add, eq, ge, load, lt, score, select, sub } from '../build.ts';
import { checkMod } from '../check.ts';
import { compile } from '../evaluate/evaluate.ts';
import { hostLoaders } from '../evaluate/host-loaders.ts';
import {
  andMasks,
  causalMask,
  dilatedMask,
  documentMask,
  orMasks,
  prefixLmMask,
  slidingWindowMask,
} from './mask-mods.ts';
import { type Mod, maskMod, scoreMod } from './mod.ts';
import { alibiMod, relativeBiasMod, softcapMod } from './score-mods.ts';

/** The rows of a mask as text, with `x` for a visible key. */
function picture(mask: Mod<Tensor>, Sq: number, Skv: number, b = 0): string[] {
  checkMod('maskMod', mask, 'bool');
  const visible = compile(mask.expr, hostLoaders(mask.captures));
  return Array.from({ length: Sq }, (_, q) =>
    Array.from({ length: Skv }, (_, kv) => (visible(0, b, 0, q, kv) ? 'x' : '.')).join(''),
  );
}

/** A row of scores, all 1 before the mod. */
function scores(mod: Mod<Tensor>, place: { h: number; q: number }, Skv: number): number[] {
  checkMod('scoreMod', mod, 'f32');
  const run = compile(mod.expr, hostLoaders(mod.captures));
  return Array.from({ length: Skv }, (_, kv) => run(1, 0, place.h, place.q, kv));
}

const ids = (...values: number[]) => Tensor.from(values, [values.length], { dtype: 'i32' });

describe('masks', () => {
  it('causal', () => {
    expect(picture(causalMask(), 3, 4)).toEqual(['x...', 'xx..', 'xxx.']);
  });

  it('sliding window, counted without the diagonal', () => {
    expect(picture(slidingWindowMask({ left: 1, right: 0 }), 4, 4)).toEqual(['x...', 'xx..', '.xx.', '..xx']);
    expect(picture(slidingWindowMask({ left: 0, right: 2 }), 2, 4)).toEqual(['xxx.', '.xxx']);
  });

  it('prefix, of one length or one per sequence', () => {
    expect(picture(prefixLmMask(2), 4, 4)).toEqual(['xx..', 'xx..', 'xxx.', 'xxxx']);
    expect(picture(prefixLmMask(ids(0, 3)), 2, 4, 1)).toEqual(['xxx.', 'xxx.']);
  });

  it('documents', () => {
    expect(picture(documentMask(ids(0, 0, 1, 1)), 4, 4)).toEqual(['xx..', 'xx..', '..xx', '..xx']);
    const perSequence = Tensor.from([0, 0, 0, 5, 6, 5], [2, 3], { dtype: 'i32' });
    expect(picture(documentMask(perSequence), 3, 3, 1)).toEqual(['x.x', '.x.', 'x.x']);
  });

  it('dilated', () => {
    expect(picture(dilatedMask(2), 3, 5)).toEqual(['x.x.x', '.x.x.', 'x.x.x']);
    expect(picture(dilatedMask(2, 1), 3, 5)).toEqual(['x.x..', '.x.x.', 'x.x.x']);
  });

  it('joins masks and their captures', () => {
    const documents = documentMask(ids(0, 0, 1, 1));
    expect(picture(andMasks(causalMask(), documents), 4, 4)).toEqual(['x...', 'xx..', '..x.', '..xx']);
    expect(picture(orMasks(causalMask(), documents), 4, 4)).toEqual(['xx..', 'xx..', 'xxxx', 'xxxx']);
    expect(picture(andMasks(), 1, 2)).toEqual(['xx']);
    expect(picture(orMasks(), 1, 2)).toEqual(['..']);
  });

  it('joins masks that load the same tensor, but not different ones by the same name', () => {
    const a = ids(0, 1);
    const b = ids(1, 1);
    expect(picture(andMasks(documentMask(a), documentMask(a)), 2, 2)).toEqual(['x.', '.x']);
    expect(() => andMasks(documentMask(a), documentMask(b))).toThrow(
      /load different tensors by the name 'documentIds'/,
    );
    expect(picture(orMasks(documentMask(a), documentMask(b, 'otherIds')), 2, 2)).toEqual(['xx', 'xx']);
  });

  it('joins only masks', () => {
    expect(() => andMasks(softcapMod(2))).toThrow(/^masks\[0\] must give bool, but gives f32/);
  });

  it('rejects invalid counts', () => {
    expect(() => slidingWindowMask({ left: -1, right: 0 })).toThrow(/^left must be an integer of at least 0/);
    expect(() => dilatedMask(0)).toThrow(/^dilation must be an integer of at least 1, got 0/);
    expect(() => documentMask(Tensor.zeros([1, 1, 1]))).toThrow(/^ids must have shape/);
  });
});

describe('score mods', () => {
  it('tanh softcap', () => {
    expect(scores(softcapMod(2), { h: 0, q: 0 }, 1)).toEqual([2 * Math.tanh(0.5)]);
    expect(() => softcapMod(0)).toThrow(/^cap must be a positive number, got 0/);
  });

  it('ALiBi', () => {
    const slopes = Tensor.from([0.5, 0.25], [2]);
    expect(scores(alibiMod(slopes), { h: 1, q: 1 }, 4)).toEqual([0.75, 1, 0.75, 0.5]);
    expect(() => alibiMod(Tensor.zeros([2, 1]))).toThrow(/^slopes must have shape \(Hq\)/);
  });

  it('relative bias, distances clamped to the table', () => {
    const table = Tensor.from([0, 0, 0, 10, 20, 30], [2, 3]);
    expect(scores(relativeBiasMod(table), { h: 1, q: 2 }, 5)).toEqual([11, 11, 21, 31, 31]);
    expect(() => relativeBiasMod(Tensor.zeros([2, 4]))).toThrow(/^table must have shape \(Hq, 2R \+ 1\)/);
  });

  it('gives f32 even where the function gives an i32 or a number', () => {
    expect(scoreMod(({ q }) => q).expr.type).toBe('f32');
    expect(scoreMod(() => 0).expr).toEqual({ kind: 'constant', type: 'f32', value: 0 });
  });

  it.each<[string, () => Mod<Tensor>]>([
    ['a comparison', () => maskMod(({ q, kv }) => q >= kv)],
    ['a comparison with a computed index', () => maskMod(({ q, kv }) => sub(q, 2) < kv)],
    ['a comparison in a condition', () => scoreMod(({ score, q }) => select(q < score, score, 0))],
    ['arithmetic', () => scoreMod(({ score, q }) => Number(score) - Number(q))],
  ])('refuses %s by operators of JavaScript, which would be the same for every pair', (_, make) => {
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(/^(score|q|kv) is an expression, on which operators such as >= and - do not work/);
  });

  it('may be any of its variables, as plain data', () => {
    const { expr } = scoreMod(({ score }) => score);
    expect(expr).toEqual(score);
    expect(JSON.parse(JSON.stringify(expr))).toEqual(structuredClone(expr));
  });
});

describe('checkMod', () => {
  const x = Tensor.zeros([4]);

  it('accepts the mods of the builders, also after JSON', () => {
    const { expr } = relativeBiasMod(Tensor.zeros([2, 3]));
    const captures = { relativeBias: Tensor.zeros([2, 3]) };
    expect(() =>
      checkMod('scoreMod', { expr: JSON.parse(JSON.stringify(expr)), captures }, 'f32'),
    ).not.toThrow();
  });

  it.each<[string, Omit<Mod<Tensor>, 'tools'>, 'f32' | 'bool', RegExp]>([
    [
      'a mask where a score is wanted',
      causalMask(),
      'f32',
      /^mod must give f32, but its expression gives bool/,
    ],
    [
      'a mask that looks at the score',
      { expr: lt(scoreMod(({ score }) => score).expr as never, 1) },
      'bool',
      /^mod must not depend on the score/,
    ],
    ['a missing capture', scoreMod(({ q }) => load('x', [q])), 'f32', /^mod.captures must hold 'x'/],
    [
      'an unused capture',
      scoreMod(({ score }) => score, { x }),
      'f32',
      /^mod.captures holds 'x', which the expression does not load/,
    ],
    [
      'a capture of another rank',
      scoreMod(({ b, q }) => load('x', [b, q]), { x }),
      'f32',
      /^mod.captures.x has shape \[4\], but is loaded with 2 indices/,
    ],
    [
      'a capture of another kind',
      maskMod(({ q }) => eq(load('x', [q], 'i32'), 0), { x }),
      'bool',
      /^mod.captures.x is f32, which is read as f32, but it is loaded as i32/,
    ],
    [
      'an unknown variable',
      { expr: { kind: 'variable', type: 'i32', name: 'row' as never } },
      'f32',
      /^mod is not a valid expression: there is no variable "row"/,
    ],
    [
      'an unknown operator',
      { expr: { kind: 'unary', type: 'f32', op: 'toString' as never, a: add(1, 2) } },
      'f32',
      /there is no unary operator "toString"/,
    ],
    [
      'an operator without its operand',
      { expr: { kind: 'unary', type: 'f32', op: 'exp' } as never },
      'f32',
      /undefined is not a node/,
    ],
    [
      'a node of an unknown kind',
      { expr: { kind: 'unary', type: 'f32', op: 'exp', a: { kind: 'call', type: 'f32' } } as never },
      'f32',
      /"call" is not a kind of node/,
    ],
    [
      'a load without indices',
      { expr: { kind: 'load', type: 'f32', name: 'x' } as never, captures: { x } },
      'f32',
      /undefined is not a list of indices/,
    ],
    [
      'operands that the operator does not take',
      { expr: { kind: 'unary', type: 'f32', op: 'exp', a: ge(1, 2) } },
      'f32',
      /exp takes f32, got bool/,
    ],
    [
      'a constant that JSON lost',
      { expr: { kind: 'constant', type: 'f32', value: null as never } },
      'f32',
      /null is not a constant of type f32/,
    ],
  ])('rejects %s', (_, mod, expected, message) => {
    expect(() => checkMod('mod', mod, expected)).toThrow(message);
  });
});
