import { describe, expect, it } from 'vitest';
import { Tensor } from '../../tensor/tensor.ts';
import type { SdpaBackwardOptions } from '../options/options.ts';
import type { GradientName } from '../problem/problem.ts';
import { normalise, normaliseBackward } from './normalise.ts';

const bhsd = (...shape: number[]): Tensor => Tensor.zeros(shape);
const qkv = () => ({ q: bhsd(2, 4, 5, 8), k: bhsd(2, 2, 7, 8), v: bhsd(2, 1, 7, 6) });

describe('normalise', () => {
  it('fills every default', () => {
    const { problem } = normalise(qkv());
    expect(problem).toMatchObject({ B: 2, Hq: 4, Hk: 2, Hv: 1, Sq: 5, Skv: 7, Dqk: 8, Dv: 6 });
    expect(problem).toMatchObject({
      scale: 1 / Math.sqrt(8),
      band: null,
      mask: null,
      dropout: null,
      softcap: null,
    });
    expect(problem.o).toEqual({
      dtype: 'f32',
      shape: [2, 4, 5, 6],
      strides: [120, 30, 6, 1],
      starts: 'strided',
      page: null,
    });
  });

  it('accepts null for no scale, softcap and window, as in JSON files of cases', () => {
    const none: object = { scale: null, softcap: null, window: null };
    expect(normalise(qkv(), none).problem).toEqual(normalise(qkv()).problem);
    const open: object = { window: { left: null, right: 1 } };
    expect(normalise(qkv(), open).problem).toEqual(normalise(qkv(), { window: { right: 1 } }).problem);
  });

  it('treats undefined as absent, in options and within them', () => {
    const none: { readonly [Name in keyof Required<SdpaBackwardOptions>]: undefined } = {
      ...{ scale: undefined, causal: undefined, window: undefined, mask: undefined, bias: undefined },
      ...{
        alibi: undefined,
        softcap: undefined,
        scoreMod: undefined,
        maskMod: undefined,
        blockMask: undefined,
      },
      ...{ sink: undefined, seqLensQ: undefined, seqLensKv: undefined, cuSeqLensQ: undefined },
      ...{ cuSeqLensKv: undefined, raggedOffsets: undefined, maxSeqLenQ: undefined, maxSeqLenKv: undefined },
      ...{ pageTableK: undefined, pageTableV: undefined, cuPagesK: undefined, cuPagesV: undefined },
      ...{ dropout: undefined, outputs: undefined, outDType: undefined, fp8: undefined, mxfp8: undefined },
      ...{ gradients: undefined, gradDType: undefined },
    };
    const forward = qkv();
    const o = bhsd(2, 4, 5, 6);
    const inputs = { ...forward, o, lse: bhsd(2, 4, 5), dO: o, dLse: undefined };
    const { dLse: _, ...given } = inputs;
    expect(normaliseBackward(inputs, none)).toEqual(normaliseBackward(given));

    const dropout = { p: 0.5, seed: 1 };
    const within = {
      window: { left: 1, right: undefined, align: undefined },
      dropout: { ...dropout, offset: undefined, scheme: undefined },
      outputs: { max: true, sumExp: undefined },
      raggedOffsets: { q: undefined },
    };
    const options = { window: { left: 1 }, dropout, outputs: { max: true } };
    expect(normalise(forward, within).problem).toEqual(normalise(forward, options).problem);
    const fp8 = { descaleQ: undefined, scaleO: 2, formatP: { dtype: 'i8', zeroPoint: undefined } } as const;
    expect(normalise(forward, { fp8 }).problem).toEqual(
      normalise(forward, { fp8: { scaleO: 2, formatP: { dtype: 'i8' } } }).problem,
    );
  });

  it('makes a plain value that survives JSON', () => {
    const { problem } = normalise(qkv(), {
      causal: 'bottom-right',
      window: { left: 3 },
      dropout: { p: 0.1, seed: 2n ** 63n, offset: 5 },
      bias: bhsd(4, 1, 7),
    });
    expect(JSON.parse(JSON.stringify(problem))).toEqual(problem);
    expect(problem.band).toEqual({ left: 3, right: 0, align: 'bottom-right' });
    expect(problem.dropout).toMatchObject({ seed: [0, 2 ** 31], offset: [5, 0], scheme: 'torch-efficient' });
    expect(problem.bias).toEqual({ dtype: 'f32', strides: [0, 7, 0, 1], source: [4, 1, 7] });
  });

  it('never keeps the stride of a size-1 dimension', () => {
    const q = Tensor.wrap(new Float32Array(40), {
      dtype: 'f32',
      shape: [1, 5, 1, 8],
      strides: [99990001, 8, 3331333, 1],
    });
    expect(normalise({ q, k: q, v: q }).problem.q.strides).toEqual([0, 8, 0, 1]);
  });

  it('describes packed sequences as one batch of tokens', () => {
    const { problem } = normalise(
      { q: bhsd(9, 4, 8), k: bhsd(11, 2, 8), v: bhsd(11, 2, 8) },
      { cuSeqLensQ: [0, 2, 2, 9], cuSeqLensKv: [0, 4, 5, 11] },
    );
    expect(problem).toMatchObject({
      B: 3,
      Sq: 7,
      Skv: 6,
      lengthsQ: 'cumulative',
      lengthsKv: 'cumulative',
    });
    expect(problem.q).toMatchObject({ shape: [1, 4, 9, 8], strides: [0, 8, 32, 1], starts: 'cumulative' });
    expect(problem.o).toMatchObject({ shape: [1, 4, 9, 8], starts: 'cumulative' });
  });

  it('describes each tensor in its own layout', () => {
    const { problem } = normalise(
      { q: bhsd(9, 4, 8), k: bhsd(2, 2, 7, 8), v: bhsd(20, 2, 6) },
      { raggedOffsets: { q: [0, 96, 288], v: [12, 120, 240] }, seqLensQ: [3, 6], cuSeqLensKv: [0, 7, 12] },
    );
    expect(problem).toMatchObject({ B: 2, Sq: 6, Skv: 7, lengthsQ: 'lengths', lengthsKv: 'cumulative' });
    expect([problem.q, problem.k, problem.v].map(({ starts }) => starts)).toEqual([
      'ragged',
      'strided',
      'ragged',
    ]);
    // Nothing says where o's sequences start, so it is dense.
    expect(problem.o).toMatchObject({ shape: [2, 4, 6, 6], starts: 'strided' });
  });

  it('lays results out as their operand, or by their own offsets', () => {
    const starts = (call: object) => {
      const options = { cuSeqLensQ: [0, 2, 9], cuSeqLensKv: [0, 4, 11], ...call };
      const inputs = { q: bhsd(9, 4, 8), k: bhsd(11, 2, 8), v: bhsd(2, 2, 7, 6) };
      const lse = 'raggedOffsets' in call ? bhsd(2, 4, 7) : bhsd(4, 9);
      const backward = { ...inputs, o: bhsd(9, 4, 6), dO: bhsd(2, 4, 7, 6), lse };
      const { dO, dq, dk, dv, forward } = normaliseBackward(backward, options).problem;
      return [forward.o, dO, dq, dk, dv].map(desc => desc.starts);
    };
    expect(starts({})).toEqual(['cumulative', 'strided', 'cumulative', 'cumulative', 'strided']);
    const raggedOffsets = { q: [0, 64, 288], o: [0, 48, 216], dk: [0, 64, 176], dv: [0, 48, 132] };
    expect(starts({ raggedOffsets })).toEqual(['ragged', 'strided', 'cumulative', 'ragged', 'ragged']);
  });

  it('requests the gradients of the options that are tensors', () => {
    const { q, k, v } = qkv();
    const o = bhsd(2, 4, 5, 6);
    const inputs = { q, k, v, o, lse: bhsd(2, 4, 5), dO: o };
    expect(normaliseBackward(inputs, { bias: bhsd(5, 7), alibi: true }).problem.gradients).toEqual([
      'dq',
      'dk',
      'dv',
      'dbias',
    ]);
    expect(normaliseBackward(inputs, { gradients: ['dv'] }).problem.gradients).toEqual(['dv']);
  });

  it('copies the list of gradients, which the caller may change later', () => {
    const o = bhsd(2, 4, 5, 6);
    const gradients: GradientName[] = ['dv'];
    const inputs = { ...qkv(), o, lse: bhsd(2, 4, 5), dO: o };
    const { problem } = normaliseBackward(inputs, { gradients });
    gradients.push('dbias');
    expect(problem.gradients).toEqual(['dv']);
  });
});
