import { expect, test } from 'vitest';
import { add, load } from '../expr/build.ts';
import type { Expr } from '../expr/expr.ts';
import { scoreMod } from '../expr/mod.ts';
import { Tensor } from '../tensor/tensor.ts';
import { validate } from './forward-rules.ts';
import { normalise } from './normalise.ts';

const q = Tensor.zeros([1, 2, 3, 4]);
const { problem } = normalise(
  { q, k: q, v: q },
  {
    causal: true,
    bias: Tensor.zeros([3, 3]),
    scoreMod: scoreMod(({ score, h }) => add(score, load('shift', [h])), { shift: Tensor.zeros([2]) }),
  },
);

test('a problem that was stored as JSON is still valid', () => {
  expect(() => validate(JSON.parse(JSON.stringify(problem)))).not.toThrow();
});

test('a problem that was changed by hand is checked like a call', () => {
  expect(() => validate({ ...problem, Hq: 3 })).toThrow(
    "k must have a number of heads that divides q's 3, got 2",
  );
  expect(() => validate({ ...problem, scale: Infinity })).toThrow(
    'scale must be a finite number, got Infinity',
  );
  expect(() => validate({ ...problem, band: { left: -1, right: 0, align: 'top-left' } })).toThrow(
    'window.left must be a count of keys',
  );
});

test('so are its mods', () => {
  const broken = JSON.parse(JSON.stringify(problem.scoreMod).replace('"add"', '"atan2"')) as Expr;
  expect(() => validate({ ...problem, scoreMod: broken })).toThrow("there is no binary operator 'atan2'");
  expect(() => validate({ ...problem, maskMod: problem.scoreMod })).toThrow('maskMod must give bool');
  expect(() => validate({ ...problem, captures: {} })).toThrow("scoreMod.captures must hold 'shift'");
});
