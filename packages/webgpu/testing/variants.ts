import {
  type BackwardProblem,
  type DType,
  type GradientName,
  normalise,
  normaliseBackward,
  type SdpaOptions,
  Tensor,
} from '@tilewise/core';
import { backwardKernels, forwardKernels } from '../src/attention/kernels.ts';
import { type Capabilities, guaranteedCapabilities, type KernelSpec } from '../src/index.ts';
import { type Choice, pairwise } from './pairwise.ts';

/** Everything that the text of a kernel depends on. */
export const factors = {
  dtype: ['f32', 'f16', 'bf16'],
  layout: ['vectors', 'gaps', 'every other channel', 'unaligned'],
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
  lengths: ['full', 'q', 'kv', 'both', 'packed', 'packed with lengths'],
  mask: [false, true],
  bias: [null, 'f32', 'f16', 'bf16'],
  biasShape: ['whole', 'per head', 'per key', 'one'],
  softcap: [false, true],
  alibi: [false, true],
  sink: [false, true],
  causal: [false, true],
  dropout: [null, 'torch-efficient', 'flash-attention-2', 'onednn', 'mask'],
  outDType: [undefined, 'f32', 'f16', 'bf16'],
  rowOutputs: [false, true],
  dLse: [false, true],
  gradients: ['default', 'dq', 'dk', 'dv', 'dk dv'],
} as const;

export type Variant = Choice<typeof factors>;

/** A selection in which every two values meet. */
export const variants: readonly Variant[] = pairwise(factors);

/** The problem of a variant, on tensors that hold nothing of interest. */
export function problemOf(variant: Variant): BackwardProblem {
  const { dtype, layout, lengths, dropout, bias, biasShape } = variant;
  const [B, S] = [2, 40];
  const [Hq, Hk, Hv] = variant.heads;
  const [Dqk, Dv] = variant.D;
  const packed = lengths.startsWith('packed');
  const tensor = (H: number, D: number, as: DType): Tensor => {
    const step = layout === 'every other channel' ? 2 : 1;
    const row = D * step + (layout === 'gaps' ? 4 : 0);
    return packed
      ? Tensor.zeros([S, H, D], { dtype: as, strides: [H * row, row, step] })
      : Tensor.zeros([B, H, S, D], { dtype: as, strides: [H * S * row, S * row, row, step] });
  };
  const extent = packed ? 24 : S;
  const shapes = { whole: [B, Hq, extent, extent], 'per head': [Hq, 1, 1], 'per key': [extent], one: [1] };
  const given = lengths === 'both' || lengths === 'packed with lengths';
  const options: SdpaOptions = {
    causal: variant.causal,
    softcap: variant.softcap ? 5 : undefined,
    alibi: variant.alibi ? Array.from({ length: Hq }, () => 0.5) : undefined,
    sink: variant.sink ? Array.from({ length: Hq }, () => 1) : undefined,
    mask: variant.mask ? Tensor.zeros([extent, extent], { dtype: 'bool' }) : undefined,
    bias: bias ? Tensor.zeros(shapes[biasShape], { dtype: bias }) : undefined,
    seqLensQ: given || lengths === 'q' ? [3, 7] : undefined,
    seqLensKv: given || lengths === 'kv' ? [5, 9] : undefined,
    cuSeqLensQ: packed ? [0, 24, 40] : undefined,
    cuSeqLensKv: packed ? [0, 24, 40] : undefined,
    dropout:
      dropout === 'mask'
        ? { mask: Tensor.zeros([B, Hq, extent, extent], { dtype: 'bool' }), p: 0.1 }
        : dropout
          ? { p: 0.1, seed: 1, scheme: dropout }
          : undefined,
    outputs: { max: variant.rowOutputs, sumExp: variant.rowOutputs },
    outDType: variant.outDType,
  };
  const [q, k, v] = [tensor(Hq, Dqk, dtype), tensor(Hk, Dqk, dtype), tensor(Hv, Dv, dtype)];
  const o = tensor(Hq, Dv, variant.outDType ?? dtype);
  const rows = Tensor.zeros(packed ? [Hq, S] : [B, Hq, S]);
  const gradients =
    variant.gradients === 'default' ? undefined : (variant.gradients.split(' ') as GradientName[]);
  const inputs = { q, k, v, o, dO: o, lse: rows, ...(variant.dLse ? { dLse: rows } : {}) };
  const { problem } = normaliseBackward(inputs, { ...options, gradients });
  // Backward's o is the one it is given; forward's is the one it makes.
  return { ...problem, forward: { ...normalise({ q, k, v }, options).problem, o: problem.forward.o } };
}

/** The kernels of a variant, forward and backward, as they are made for a device. */
export function kernelsOf(
  variant: Variant,
  capabilities: Capabilities = guaranteedCapabilities,
): KernelSpec[] {
  const problem = problemOf(variant);
  const { q, k, v } = problem.forward;
  const names = ['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv'];
  const unaligned = new Set(variant.layout === 'unaligned' ? names : []);
  return [
    ...forwardKernels(problem.forward, unaligned),
    ...backwardKernels(problem, { dq: q, dk: k, dv: v }, capabilities, unaligned),
  ];
}
