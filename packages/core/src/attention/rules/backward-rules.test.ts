import { expect, test } from 'vitest';
import { normaliseBackwardRecord } from '../../../testing/one-record.ts';
import { testRules } from '../../../testing/rule-cases.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { validateBackward } from './backward-rules.ts';

// The rules that backward adds to those of forward: the rule, a call that breaks it, and the resulting error.

const f32 = (...shape: number[]): Tensor => Tensor.zeros(shape);
const u8 = (...shape: number[]): Tensor => Tensor.zeros(shape, { dtype: 'u8' });
const i32 = (...shape: number[]): Tensor => Tensor.zeros(shape, { dtype: 'i32' });

const valid = {
  ...{ q: f32(2, 4, 5, 8), k: f32(2, 2, 7, 8), v: f32(2, 2, 7, 6) },
  ...{ o: f32(2, 4, 5, 6), lse: f32(2, 4, 5), dO: f32(2, 4, 5, 6) },
};

const run = normaliseBackwardRecord;

testRules(run, valid, {
  'the rules of forward hold': [
    { scale: Number.NaN },
    'InvalidArgumentError: scale must be a finite number, got NaN',
  ],
  'o has the shape of the output': [
    { o: f32(2, 4, 5, 8) },
    'InvalidShapeError: o must have the shape of the output ([2,4,5,6] as B, H, S, D), got [2,4,5,8]',
  ],
  'dO has the shape of the output': [
    { dO: f32(2, 2, 5, 6) },
    'InvalidShapeError: dO must have the shape of the output ([2,4,5,6] as B, H, S, D), got [2,2,5,6]',
  ],
  'o holds floats': [
    { o: i32(2, 4, 5, 6) },
    'InvalidDTypeError: o must be f32, f16, bf16, f8e4m3 or f8e5m2, got i32',
  ],
  'dO holds floats': [
    { dO: i32(2, 4, 5, 6) },
    'InvalidDTypeError: dO must be f32, f16, bf16, f8e4m3 or f8e5m2, got i32',
  ],
  'lse is given': [{ lse: undefined }, 'InvalidArgumentError: lse must be a tensor, got undefined'],
  'lse has a value per row': [
    { lse: f32(2, 4, 5, 1) },
    'InvalidShapeError: lse must have shape [2,4,5], got [2,4,5,1]',
  ],
  'lse is f32': [{ lse: f32(2, 4, 5).cast('f16') }, 'InvalidDTypeError: lse must be f32, got f16'],
  'dLse is as lse': [{ dLse: f32(2, 4, 7) }, 'InvalidShapeError: dLse must have shape [2,4,5], got [2,4,7]'],
  'dLse is f32': [{ dLse: i32(2, 4, 5) }, 'InvalidDTypeError: dLse must be f32, got i32'],
  'dk is not that of a paged k': [
    { k: f32(6, 2, 4, 8), v: f32(2, 2, 8, 6), pageTableK: i32(2, 2), seqLensKv: [0, 0] },
    'InvalidArgumentError: gradients cannot include dk of a paged k, because sequences may share pages: request the others by name',
  ],
  'dv is not that of a paged v': [
    { v: f32(6, 2, 4, 6), k: f32(2, 2, 8, 8), pageTableV: i32(2, 2), seqLensKv: [0, 0] },
    'InvalidArgumentError: gradients cannot include dv of a paged v, because sequences may share pages: request the others by name',
  ],
  'gradDType is a float': [
    { gradDType: 'i32' },
    'InvalidDTypeError: gradDType must be f32, f16, bf16, f8e4m3 or f8e5m2, got i32',
  ],
  'gradDType is a name': [
    { gradDType: Symbol('f32') },
    'InvalidArgumentError: gradDType must be the name of a dtype, got Symbol(f32)',
  ],
  'largest gradients are of FP8': [
    { outputs: { amaxDQ: true } },
    'InvalidArgumentError: outputs.amaxDQ is a result of the FP8 contract: give fp8 too',
  ],
  'the largest gradient is one of those wanted': [
    { q: f32(2, 4, 5, 8).cast('f8e4m3'), fp8: {}, outputs: { amaxDP: true }, gradients: ['dv'] },
    'InvalidArgumentError: outputs.amaxDP needs dq or dk among the gradients, got dv',
  ],
  'operands of MXFP8 are given in both roundings': [
    {
      ...{ q: valid.q.cast('f8e4m3'), k: valid.k.cast('f8e4m3'), v: valid.v.cast('f8e4m3') },
      mxfp8: {
        ...{ descaleQ: u8(2, 4, 5, 1), descaleK: u8(2, 2, 7, 1), descaleV: u8(2, 2, 1, 6) },
        descaleQT: u8(2, 4, 1, 8),
      },
    },
    'InvalidArgumentError: mxfp8.qT must be given',
  ],
  'there is a bias to have a gradient': [
    { gradients: ['dq', 'dbias'] },
    'InvalidArgumentError: gradients cannot include dbias: its input was not given',
  ],
  'there is a sink to have a gradient': [
    { gradients: ['dsink'] },
    'InvalidArgumentError: gradients cannot include dsink: its input was not given',
  ],
  'there is ALiBi to have a gradient': [
    { gradients: ['dAlibi'] },
    'InvalidArgumentError: gradients cannot include dAlibi: its input was not given',
  ],
  'gradients have names of gradients': [
    { gradients: ['dmask'] },
    'InvalidArgumentError: gradients must be among dq, dk, dv, dbias, dsink, dAlibi, got dmask',
  ],
  'names that every object has are no gradients': [
    { gradients: ['toString'] },
    'InvalidArgumentError: gradients must be among dq, dk, dv, dbias, dsink, dAlibi, got toString',
  ],
});

test('any gradient can be requested alone, even that of the standard slopes', () => {
  expect(run({ ...valid, alibi: true, gradients: ['dAlibi'] }).problem.gradients).toEqual(['dAlibi']);
});

test('a problem that was changed by hand is checked like a call, its forward part too', () => {
  const { problem } = run(valid);
  expect(() => validateBackward(JSON.parse(JSON.stringify(problem)))).not.toThrow();
  expect(() => validateBackward({ ...problem, gradients: ['dsink'] })).toThrow(
    'gradients cannot include dsink',
  );
  expect(() => validateBackward({ ...problem, forward: { ...problem.forward, scale: Number.NaN } })).toThrow(
    'scale must be a finite number',
  );
});
