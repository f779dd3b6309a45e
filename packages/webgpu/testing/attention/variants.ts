import {
  type BackwardProblem,
  type DType,
  type GradientName,
  normalise,
  normaliseBackward,
  type SdpaBackwardOptions,
  type SdpaOptions,
  Tensor,
} from '@tilewise/core';
import { rowShape } from '@tilewise/core/engine';
import { add, ge, load, maskMod, mod, mul, scoreMod, tanh } from '@tilewise/core/expr';
import { allTools } from '../../src/api/tools/all-tools.ts';
import { backwardPlan } from '../../src/attention/plan/backward-plan.ts';
import { forwardPlan } from '../../src/attention/plan/forward-plan.ts';
import type { TileSelector } from '../../src/attention/tiles/tile-choice.ts';
import { type Capabilities, guaranteedCapabilities, type KernelSpec } from '../../src/index.ts';
import type { AttentionCall } from './attention-call.ts';
import { type Choice, pairwise } from './pairwise.ts';

/** All factors that the text of a kernel depends on. */
export const factors = {
  dtype: ['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'],
  /** Rows without gaps, with gaps of four elements or of one, or with channels that are not adjacent. */
  layout: ['whole', 'gaps of 4', 'gaps of 1', 'every other channel'],
  /** Dqk, Dv. */
  D: [
    [8, 8],
    [1, 1],
    [64, 64],
    [128, 128],
    [192, 128],
    [256, 256],
  ],
  /** Hq, Hk, Hv. */
  heads: [
    [4, 4, 4],
    [4, 2, 2],
    [4, 2, 1],
  ],
  lengths: ['full', 'q', 'kv', 'both', 'packed', 'packed with lengths', 'ragged'],
  mask: [false, true],
  blockMask: [false, true],
  mods: [null, 'score', 'mask', 'both'],
  bias: [null, 'f32', 'f16', 'bf16', 'f8e5m2'],
  biasShape: ['whole', 'per head', 'per key', 'one'],
  softcap: [false, true],
  alibi: [false, true],
  sink: [false, true],
  causal: [false, true],
  dropout: [null, 'torch-efficient', 'flash-attention-2', 'onednn', 'mask'],
  outDType: [undefined, 'f32', 'f16', 'bf16', 'f8e4m3'],
  rowOutputs: [false, true],
  dLse: [false, true],
  gradients: ['default', 'dq', 'dk', 'dv', 'dk dv'],
} as const;

export type Variant = Choice<typeof factors>;

/** A selection in which every two values of two factors occur together. */
export const variants: readonly Variant[] = pairwise(factors);

/** Makes a tensor of floats. */
export type MakeFloats = (shape: readonly number[], dtype: DType, strides?: readonly number[]) => Tensor;

/** A call whose kernels are those of a variant. */
export function callOf(variant: Variant, floats: MakeFloats): AttentionCall {
  const { dtype, layout, lengths, dropout, bias, biasShape, outDType = dtype } = variant;
  const [B, S] = [2, 40];
  const [Hq, Hk, Hv] = variant.heads;
  const [Dqk, Dv] = variant.D;
  const packed = lengths.startsWith('packed');
  const ragged = lengths === 'ragged';
  const rowOf = (D: number): [row: number, step: number] => {
    const step = layout === 'every other channel' ? 2 : 1;
    return [D * step + (layout === 'gaps of 4' ? 4 : layout === 'gaps of 1' ? 1 : 0), step];
  };
  /**
   * The offsets of sequences whose tokens have `token` elements; the second sequence starts at an odd offset.
   */
  const offsets = (token: number): number[] => [0, 23 * token + (token > 1 ? 1 : 0), 40 * token];
  const tensor = (H: number, D: number, as: DType = dtype): Tensor => {
    const [row, step] = rowOf(D);
    return packed || ragged
      ? floats([S, H, D], as, [H * row, row, step])
      : floats([B, H, S, D], as, [H * S * row, S * row, row, step]);
  };
  const extent = packed ? 24 : ragged ? 23 : S;
  const bools = (...shape: number[]): Tensor => {
    const values = floats(shape, 'f32').toFloat32();
    return Tensor.from(
      values.map(x => Number(x > -0.7)),
      shape,
      { dtype: 'bool' },
    );
  };
  const shapes = { whole: [B, Hq, extent, extent], 'per head': [Hq, 1, 1], 'per key': [extent], one: [1] };
  const both = lengths === 'both' || lengths === 'packed with lengths' || ragged;
  const cuSeqLens = packed ? [0, 24, 40] : undefined;
  const options: SdpaOptions = {
    causal: variant.causal,
    softcap: variant.softcap ? 5 : undefined,
    alibi: variant.alibi ? Array.from({ length: Hq }, (_, h) => 2 ** -h / 4) : undefined,
    sink: variant.sink ? floats([Hq], 'f32') : undefined,
    mask: variant.mask ? bools(extent, extent) : undefined,
    blockMask: variant.blockMask ? Tensor.from([1], [1, 1, 1, 1], { dtype: 'u8' }) : undefined,
    ...modsOf(variant.mods),
    bias: bias ? floats(shapes[biasShape], bias) : undefined,
    seqLensQ: both || lengths === 'q' ? [23, 16] : undefined,
    seqLensKv: both || lengths === 'kv' ? [ragged ? 23 : 19, 9] : undefined,
    ...(ragged && {
      raggedOffsets: {
        ...{ q: offsets(Hq * rowOf(Dqk)[0]), k: offsets(Hk * rowOf(Dqk)[0]), v: offsets(Hv * rowOf(Dv)[0]) },
        ...{ o: offsets(Hq * Dv), dO: offsets(Hq * rowOf(Dv)[0]) },
        ...{ dk: offsets(Hk * Dqk), dv: offsets(Hv * Dv) },
      },
    }),
    cuSeqLensQ: cuSeqLens,
    cuSeqLensKv: cuSeqLens,
    dropout:
      dropout === 'mask'
        ? { mask: bools(B, Hq, extent, extent), p: 0.1 }
        : dropout
          ? { p: 0.1, seed: 1n << 40n, offset: 2n ** 32n - 100n, scheme: dropout }
          : undefined,
    outputs: { max: variant.rowOutputs, sumExp: variant.rowOutputs, dropoutMask: variant.rowOutputs },
    outDType,
  };
  const gradients =
    variant.gradients === 'default' ? undefined : (variant.gradients.split(' ') as GradientName[]);
  return {
    q: tensor(Hq, Dqk),
    k: tensor(Hk, Dqk),
    v: tensor(Hv, Dv),
    dO: tensor(Hq, Dv, outDType),
    ...(variant.dLse ? { dLse: floats(packed ? [Hq, S] : [B, Hq, ragged ? extent : S], 'f32') } : {}),
    options: { ...options, gradients },
  };
}

/** Mods that both read the same captured tensor. */
function modsOf(mods: Variant['mods']): Pick<SdpaOptions, 'scoreMod' | 'maskMod'> {
  const captures = { steps: Tensor.from([0, 1, 2, 1], [4], { dtype: 'i32' }) };
  const hidden = maskMod(({ h, q, kv }) => ge(add(q, load('steps', [h], 'i32')), kv), captures);
  const moved = scoreMod(
    ({ score, kv }) => add(mul(2, tanh(mul(0.4, score))), mul(0.1, load('steps', [mod(kv, 4)], 'i32'))),
    captures,
  );
  return {
    scoreMod: mods === 'score' || mods === 'both' ? moved : undefined,
    maskMod: mods === 'mask' || mods === 'both' ? hidden : undefined,
  };
}

const zeros: MakeFloats = (shape, dtype, strides) => Tensor.zeros(shape, { dtype, strides });

function problemOf(variant: Variant, more: SdpaBackwardOptions): BackwardProblem {
  const { q, k, v, options: own, ...gradients } = callOf(variant, zeros);
  const options = { ...own, ...more };
  const lse = zeros(rowShape(normalise({ q, k, v }, options).problem), 'f32');
  const { problem } = normaliseBackward({ q, k, v, o: gradients.dO, lse, ...gradients }, options);
  const forward = normalise(
    { q, k, v },
    { ...options, outputs: { ...own?.outputs, ...more.outputs } },
  ).problem;
  // Backward receives o from the caller, here with the layout of dO.
  return { ...problem, forward: { ...forward, o: problem.forward.o } };
}

/**
 * The kernels of a variant, forward and backward, as made for a device. `more` are additional options, and
 * `tiles` replaces tiles of the built-in table.
 */
export function kernelsOf(
  variant: Variant,
  capabilities: Capabilities = guaranteedCapabilities,
  more: SdpaBackwardOptions = {},
  tiles?: TileSelector,
): KernelSpec[] {
  const problem = problemOf(variant, more);
  const { q, k, v } = problem.forward;
  const on = { target: { capabilities, tiles }, tools: allTools };
  return [
    ...forwardPlan(problem.forward, on).kernels,
    ...backwardPlan({ ...problem, dq: q, dk: k, dv: v }, on).kernels,
  ];
}

/**
 * Variants in which each value of each factor occurs, with at most eleven storage buffers per kernel. (Core
 * WebGPU guarantees eight; the adapters that tests run on have twelve or more.)
 */
export function representatives(): Variant[] {
  const runnable = variants.filter(variant =>
    kernelsOf(variant).every(({ bindings }) => bindings.length <= 11),
  );
  const values = (variant: Variant): string[] =>
    Object.entries(variant).map(([name, value]) => JSON.stringify([name, value]));
  const missing = new Set(runnable.flatMap(values));
  const chosen: Variant[] = [];
  while (missing.size > 0) {
    const gain = (variant: Variant): number => values(variant).filter(value => missing.has(value)).length;
    const best = runnable.reduce((a, b) => (gain(b) > gain(a) ? b : a));
    for (const value of values(best)) missing.delete(value);
    chosen.push(best);
  }
  return chosen;
}
