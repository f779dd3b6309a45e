import { describe } from 'vitest';
import { normaliseRecord } from '../../../testing/one-record.ts';
import { type RuleCases, testRules } from '../../../testing/rule-cases.ts';
import { Tensor } from '../../tensor/tensor.ts';

// The rules of the 8-bit contracts for a forward call: the rule, a call that breaks it, and the resulting
// error.

const f32 = (...shape: number[]): Tensor => Tensor.zeros(shape);
const u8 = (...shape: number[]): Tensor => Tensor.zeros(shape, { dtype: 'u8' });

const dense = { q: f32(2, 4, 5, 8), k: f32(2, 2, 7, 8), v: f32(2, 2, 7, 6) };

const run = normaliseRecord;
const check = (rules: RuleCases): void => testRules(run, dense, rules);

describe('fp8', () => {
  const q = f32(2, 4, 5, 8).cast('f8e4m3');
  check({
    'rounds to the format of q': [
      { fp8: {} },
      'InvalidDTypeError: fp8 needs q in f8e4m3 or f8e5m2, the format that P is rounded to, got f32',
    ],
    'is an object': [{ q, fp8: 2 }, 'InvalidArgumentError: fp8 must be an object, got 2'],
    'has scales by name': [
      { q, fp8: { scaleQ: 1 } },
      'InvalidArgumentError: fp8.scaleQ is not an option; did you mean fp8.descaleQ?',
    ],
    'has positive scales': [
      { q, fp8: { scaleS: 0 } },
      'InvalidArgumentError: fp8.scaleS must be a finite number > 0, got 0',
    ],
    'has scales that an f32 holds': [
      { q, fp8: { scaleS: 1e60 } },
      'InvalidArgumentError: fp8.scaleS must be a finite number > 0, got 1e+60',
    ],
    'has scales that are tensors of one element': [
      { q, fp8: { descaleV: f32(2) } },
      'InvalidShapeError: fp8.descaleV must have one element, got shape [2]',
    ],
    'has scales in f32': [
      { q, fp8: { descaleV: f32(1).cast('f16') } },
      'InvalidDTypeError: fp8.descaleV must be f32, got f16',
    ],
    'has a zero point that is an integer': [
      { q, fp8: { formatP: { dtype: 'i8', zeroPoint: 0.5 } } },
      'InvalidArgumentError: fp8.formatP.zeroPoint must be an integer in [-128, 127] for i8, got 0.5',
    ],
    'is what amaxes are measured for': [
      { outputs: { amaxS: true } },
      'InvalidArgumentError: outputs.amaxS is a result of the FP8 contract: give fp8 too',
    ],
  });
});

describe('mxfp8', () => {
  const f8 = { q: dense.q.cast('f8e4m3'), k: dense.k.cast('f8e4m3'), v: dense.v.cast('f8e4m3') };
  const scales = { descaleQ: u8(2, 4, 5, 1), descaleK: u8(2, 2, 7, 1), descaleV: u8(2, 2, 1, 6) };
  check({
    'has q, k and v in one 8-bit format': [
      { ...f8, k: dense.k.cast('f8e5m2'), mxfp8: scales },
      'InvalidDTypeError: k must be f8e4m3 or f8e5m2 with mxfp8, and the dtype of q, got f8e5m2',
    ],
    'is an object': [{ ...f8, mxfp8: 1 }, 'InvalidArgumentError: mxfp8 must be an object, got 1'],
    'has the scales of all three': [
      { ...f8, mxfp8: { ...scales, descaleV: undefined } },
      'InvalidArgumentError: mxfp8.descaleV must be given',
    ],
    'has a scale for each block': [
      { ...f8, mxfp8: { ...scales, descaleV: u8(2, 2, 7, 1) } },
      'InvalidShapeError: mxfp8.descaleV must have shape [2,2,1,6], got [2,2,7,1]',
    ],
    'has padded scales in the layout of cuDNN': [
      { ...f8, mxfp8: { ...scales, layout: 'F8_128x4' } },
      'InvalidShapeError: mxfp8.descaleQ must have shape [2,4,128,4], got [2,4,5,1]',
    ],
    'has a layout that there is': [
      { ...f8, mxfp8: { ...scales, layout: 'columns' } },
      'InvalidArgumentError: mxfp8.layout must be one of rows, F8_128x4, got "columns"',
    ],
    'has scales in bytes': [
      { ...f8, mxfp8: { ...scales, descaleQ: f32(2, 4, 5, 1) } },
      'InvalidDTypeError: mxfp8.descaleQ must be u8, got f32',
    ],
    'is not of fp8': [
      { ...f8, mxfp8: scales, fp8: {} },
      'InvalidArgumentError: mxfp8 cannot be combined with fp8',
    ],
    'has dense operands': [
      {
        ...{
          q: f32(9, 4, 8).cast('f8e4m3'),
          k: f32(11, 2, 8).cast('f8e4m3'),
          v: f32(11, 2, 6).cast('f8e4m3'),
        },
        ...{ cuSeqLensQ: [0, 4, 9], cuSeqLensKv: [0, 5, 11], mxfp8: {} },
      },
      'InvalidArgumentError: mxfp8 cannot be combined with a packed, ragged or paged q: blocks would not start where sequences do',
    ],
    'measures no P': [
      { ...f8, mxfp8: scales, outputs: { amaxS: true } },
      'InvalidArgumentError: outputs.amaxS is not available with mxfp8, where P has a fixed scale',
    ],
  });
});
