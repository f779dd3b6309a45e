import { describe, expect, test } from 'vitest';
import { cpuEngine } from '../../cpu/engine.ts';
import { add, load } from '../../expr/build.ts';
import { scoreMod } from '../../expr/mods/mod.ts';
import type { Expr } from '../../expr/nodes/expr.ts';
import { referenceEngine } from '../../reference/engine.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { normalise, normaliseBackward } from '../call/normalise.ts';
import { cost } from '../cost.ts';
import { validateBackward } from './backward-rules.ts';
import { checkProblem } from './check-problem.ts';
import { validate } from './forward-rules.ts';

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

test('no engine says that it runs a problem that breaks a rule', () => {
  const inputs = { q, k: q, v: q, o: q, dO: q, lse: Tensor.zeros([1, 2, 3]) };
  const { problem: backward } = normaliseBackward(inputs);
  const wrong = { ...problem, k: { ...problem.k, dtype: 'i32' } } as const;
  for (const engine of [referenceEngine(), cpuEngine({ threads: 1 })]) {
    expect(() => engine.checkSupport(wrong)).toThrow('k must be f32, f16, bf16, f8e4m3 or f8e5m2, got i32');
    expect(() => engine.checkSupport({ ...backward, forward: wrong })).toThrow('k must be f32');
    expect(() => engine.checkSupport({ ...backward, gradients: ['dsink'] })).toThrow('gradients');
  }
});

test('so is its FP8 contract', () => {
  const [f8, scales] = [
    q.cast('f8e4m3'),
    (S: number, D: number) => Tensor.zeros([1, 2, S, D], { dtype: 'u8' }),
  ];
  const mxfp8 = { descaleQ: scales(3, 1), descaleK: scales(3, 1), descaleV: scales(1, 4) };
  const { problem: blocks } = normalise({ q: f8, k: f8, v: f8 }, { mxfp8 });
  expect(() => validate(blocks)).not.toThrow();
  expect(() => validate({ ...blocks, outputs: { ...blocks.outputs, amaxS: true } })).toThrow(
    'outputs.amaxS is not available with mxfp8',
  );
});

test('so are its mods', () => {
  const broken = JSON.parse(JSON.stringify(problem.scoreMod).replace('"add"', '"atan2"')) as Expr;
  expect(() => validate({ ...problem, scoreMod: broken })).toThrow('there is no binary operator "atan2"');
  expect(() => validate({ ...problem, maskMod: problem.scoreMod })).toThrow('maskMod must give bool');
  expect(() => validate({ ...problem, captures: {} })).toThrow("scoreMod.captures must hold 'shift'");
});

describe('a value that is not a problem, or lacks fields, is refused by name', () => {
  const { problem: backward } = normaliseBackward({
    q,
    k: q,
    v: q,
    o: q,
    lse: Tensor.zeros([1, 2, 3]),
    dO: q,
  });
  const nothing: readonly unknown[] = [undefined, null, 3, 'q', [], {}];

  test.each([...nothing, backward, { problem }])('%o as a forward problem', given => {
    const message = /^problem must be a forward problem, as in normalise\(…\).problem, got/;
    expect(() => validate(given as never)).toThrow(message);
    expect(() => cost(given as never)).toThrow(message);
  });

  test.each([...nothing, problem])('%o as a backward problem', given => {
    expect(() => validateBackward(given as never)).toThrow(/^problem must be a backward problem, as/);
  });

  test.each(nothing)('%o as a problem of either kind', given => {
    expect(() => checkProblem(given)).toThrow(/^problem must be a forward problem, as/);
    expect(() => checkProblem(problem)).not.toThrow();
    expect(() => checkProblem(backward)).not.toThrow();
  });

  test.each(Object.keys(problem))('a forward problem by its %s', field => {
    for (const wrong of [undefined, Symbol(field)]) {
      const changed = { ...problem, [field]: wrong };
      expect(() => validate(changed as never)).toThrow(`problem.${field} must be`);
      const within = { ...backward, forward: { ...backward.forward, [field]: wrong } };
      expect(() => validateBackward(within as never)).toThrow(`problem.forward.${field} must be`);
    }
  });

  test.each(Object.keys(backward))('a backward problem by its %s', field => {
    const changed = { ...backward, [field]: undefined };
    expect(() => validateBackward(changed as never)).toThrow(`problem.${field} must be`);
  });

  test.each([
    ['q', { ...problem.q, shape: [1, 2, 3] }, 'q.shape must be four extents'],
    ['k', { ...problem.k, strides: undefined }, 'k.strides must be four strides'],
    ['bias', { ...problem.bias, source: null }, 'bias.source must be a list of extents'],
    ['dropout', { kind: 'philox', p: 0.5, scale: 2, scheme: 'onednn' }, 'dropout.seed must be two words'],
    ['dropout', { kind: 'mask', scale: 2 }, 'dropout.mask must be an object'],
    ['dropout', { kind: 'mask', scale: 1e39 }, 'dropout.scale must be a finite number, got 1e+39'],
    ...(
      [
        [{ p: 1 }, 'p must be a number in (0, 1), got 1'],
        [{ p: 1 - 2 ** -40, scheme: 'flash-attention-2' }, 'p must round to an f32 below 1'],
      ] as const
    ).map(([change, message]): [string, unknown, string] => [
      'dropout',
      { kind: 'philox', scale: 2, scheme: 'onednn', seed: [1, 0], offset: [0, 0], ...change },
      `dropout.${message}`,
    ]),
    ['dropout', { kind: 'coin' }, 'dropout.kind must be one of philox, mask, got "coin"'],
    ['q', { ...problem.q, strides: [0, 12, 4.5, 1] }, 'q.strides[2] must be an integer ≥ 0, got 4.5'],
    ['band', { left: null, right: 0, align: 'nonsense' }, 'band.align must be one of top-left, bottom-right'],
    [
      'captures',
      { shift: { ...problem.captures.shift, dtype: 'f64' } },
      'captures.shift.dtype must be one of',
    ],
    ['outputs', { ...problem.outputs, lse: true }, 'outputs.lse is not a field of a problem'],
  ])('%s by the name of the wrong field', (field, wrong, message) => {
    expect(() => validate({ ...problem, [field]: wrong } as never)).toThrow(`problem.${message}`);
  });

  test.each([
    ['q', { ...problem.q, shape: [1, 2, 4, 4] }, 'q must have shape [1,2,3,4] as B, H, S, D, got [1,2,4,4]'],
    ['o', { ...problem.o, shape: [1, 2, 3, 8] }, 'o must have shape [1,2,3,4]'],
    ['q', { ...problem.q, strides: [24, 12, 4, 1] }, 'q must have stride 0 along dimensions of one element'],
    ['bias', { ...problem.bias, source: [2, 3] }, 'bias must be broadcastable to [1,2,3,3], got shape [2,3]'],
    [
      'captures',
      { ...problem.captures, left: problem.captures.shift },
      "captures holds 'left', which no mod loads",
    ],
  ])('%s that does not fit the rest', (field, wrong, message) => {
    expect(() => validate({ ...problem, [field]: wrong } as never)).toThrow(message);
  });
});
