import { type DType, elementCount, type SdpaOptions, Tensor } from '@tilewise/core';
import type { PhiloxStream } from '@tilewise/philox';
import type { GridPoint } from '../grid.ts';
import { dims, type Point } from '../point.ts';
import { batch, heads, type Sizes, sequenceLength } from '../sizes.ts';
import type { GroupRunner, MakePoint } from './group.ts';
import { dropoutAt, dtypeAt, numberAt, numbersAt, scaleAt, textAt } from './values.ts';

/** Uniform inputs and upstream gradient, compared with eager attention, as PyTorch compares fused kernels. */
const againstMath =
  (
    more: (
      values: GridPoint,
      shape: Readonly<{ Sq: number; Skv: number; dtype: DType }>,
    ) => Partial<Point> = () => ({}),
  ): MakePoint =>
  (values, sizes) => {
    const dtype = dtypeAt(values);
    if (!dtype) return null;
    const [Hq, Hk] = headsAt(values, sizes);
    const D = numberAt(values, 'D');
    const Sq = sequenceLength(numberAt(values, 'Sq'), sizes);
    const Skv = sequenceLength(numberAt(values, 'Skv'), sizes);
    const causal = values.causal === true;
    return {
      dims: { ...dims(batch(numberAt(values, 'B'), sizes), Hq, Sq, Skv, D), Hk },
      dtype,
      inputs: 'uniform',
      upstream: 'drawn',
      options: () => ({ causal, ...scaleAt(values, D), ...dropoutAt(values) }),
      backward: true,
      ...more(values, { Sq, Skv, dtype }),
    };
  };

function headsAt(values: GridPoint, sizes: Sizes): readonly [number, number] {
  const { gqa, H } = values;
  const [Hq, Hk] = Array.isArray(gqa) ? gqa : typeof H === 'number' ? [H, H] : [4, 4];
  return heads(Hq, Hk, sizes);
}

const flash: MakePoint = (values, sizes) =>
  values.causal === true && values.Sq !== values.Skv ? null : againstMath()(values, sizes);

const memoryEfficient: MakePoint = (values, sizes) =>
  numberAt(values, 'dropoutP') > 0 && numberAt(values, 'Sq') > 1024 ? null : againstMath()(values, sizes);

const withBias = againstMath((values, { Sq, Skv, dtype }) => ({
  withBiasGradient: true,
  options: stream => ({
    ...scaleAt(values, numberAt(values, 'D')),
    ...dropoutAt(values),
    bias: uniformTensor(stream, [Sq, Skv], dtype),
  }),
}));

/** Lengths in [1, most), one of them set to the largest. */
const nested: MakePoint = (values, sizes) => {
  const [maxSq, maxSkv] = [numberAt(values, 'maxSq'), numberAt(values, 'maxSkv')];
  const point = againstMath()({ ...values, Sq: maxSq, Skv: maxSkv }, sizes);
  if (!point) return null;
  // The shortest sequences have the largest error, so the test needs many of them.
  const most = sizes === 'small' ? 64 : Infinity;
  const B = Math.min(numberAt(values, 'B'), sizes === 'small' ? 8 : Infinity);
  const [Sq, Skv] = [Math.min(point.dims.Sq, most), Math.min(point.dims.Skv, most)];
  const { D } = point.dims;
  const lengths = (stream: PhiloxStream, most: number): number[] =>
    Array.from({ length: B }, (_, b) => (b === 0 ? most : 1 + (stream.nextU32() % Math.max(1, most - 1))));
  return {
    ...point,
    dims: { ...point.dims, B, Sq, Skv },
    upstream: 'o',
    leniency: numberAt(values, 'dropoutP') > 0 ? 2 : 1,
    options: stream => ({
      ...scaleAt(values, D),
      ...dropoutAt(values),
      seqLensQ: lengths(stream, Sq),
      seqLensKv: lengths(stream, Skv),
    }),
  };
};

const masked: MakePoint = (values, sizes) => {
  const dtype = dtypeAt(values);
  if (!dtype) return null;
  const B = batch(numberAt(values, 'B'), sizes);
  const [H] = heads(numberAt(values, 'H'), numberAt(values, 'H'), sizes);
  const Sq = sequenceLength(numberAt(values, 'Sq'), sizes);
  const Skv = sequenceLength(numberAt(values, 'Skv'), sizes);
  const full = values.maskDim === 2 ? [Sq, Skv] : [B, H, Sq, Skv];
  const broadcast = textAt(values, 'broadcast');
  // The dimensions of the mask that are 1: the last of the four letters, as many as the mask has dimensions.
  const shape = full.map((n, d) => (broadcast.at(d - full.length) === '1' ? 1 : n));
  return {
    dims: dims(B, H, Sq, Skv, numberAt(values, 'D')),
    dtype,
    inputs: 'normal',
    upstream: 'ones',
    backward: values.train === true,
    options: stream => {
      const [causal, setMask, boolMask] = [values.causal, values.setMask, values.boolMask].map(
        x => x === true,
      );
      if (!setMask) return { causal };
      const count = elementCount(shape);
      if (boolMask) {
        const bits = Array.from({ length: count }, () => stream.nextU32() & 1);
        return { causal, mask: Tensor.from(bits, shape, { dtype: 'bool' }) };
      }
      return { causal, bias: normalTensor(stream, shape, dtype) };
    },
  };
};

/** Row i is masked if i is a multiple of four; others see the keys of their own residue modulo five. */
const fullyMaskedRows: MakePoint = values => {
  const dtype = dtypeAt(values);
  if (!dtype) return null;
  const S = numberAt(values, 'S');
  const mask = Array.from({ length: S * S }, (_, n) => {
    const [i, j] = [Math.floor(n / S), n % S];
    return Number(i % 4 !== 0 && j % 5 === i % 5);
  });
  return {
    dims: dims(1, 1, S, S, numberAt(values, 'D')),
    ...{ dtype, inputs: 'normal', upstream: 'ones', backward: true },
    options: () => ({ mask: Tensor.from(mask, [S, S], { dtype: 'bool' }) }),
  };
};

const causalVariants: MakePoint = (values, sizes) => {
  const [B, H, Sq, Skv, D] = numbersAt(values, 'shape_BHSqSkvD');
  const lowerRight = textAt(values, 'variant') === 'LOWER_RIGHT';
  if (lowerRight && Sq > Skv) return null;
  const [Hq] = heads(H, H, sizes);
  return {
    dims: dims(batch(B, sizes), Hq, Sq, Skv, D),
    ...{ dtype: dtypeAt(values) ?? 'f16', inputs: 'normal', upstream: 'drawn', backward: true },
    options: () => ({ causal: lowerRight ? 'bottom-right' : true }),
  };
};

const small: MakePoint = values => {
  const dtype = dtypeAt(values);
  if (!dtype) return null;
  const S = numberAt(values, 'S');
  return {
    dims: dims(numberAt(values, 'B'), numberAt(values, 'H'), S, S, numberAt(values, 'D')),
    ...{ dtype, inputs: 'uniform', upstream: 'ones', backward: true },
    layout: values.contiguous === true ? 'contiguous' : 'packed qkv',
    options: () => ({ causal: values.causal === true }),
  };
};

/** At most ten keys per row, with a bias of −∞ for the others. */
const infiniteBand: MakePoint = values => {
  const S = numberAt(values, 'S');
  const bias = Array.from({ length: S * S }, (_, n) => {
    const [i, j] = [Math.floor(n / S), n % S];
    return j > i || j <= i - 10 ? -Infinity : 0;
  });
  return {
    dims: dims(numberAt(values, 'B'), numberAt(values, 'H'), S, S, numberAt(values, 'D')),
    ...{ dtype: 'f32', inputs: 'normal', upstream: 'drawn', backward: false },
    options: () => ({ bias: Tensor.from(bias, [S, S]) }),
  };
};

const negativeScale: MakePoint = values => {
  const [B, H, S, D] = numbersAt(values, 'shape');
  return {
    dims: dims(B, H, S, S, D),
    ...{ dtype: 'f32', inputs: 'normal', upstream: 'drawn', backward: false, layout: 'one tensor' },
    options: () => scaleAt(values, D),
  };
};

const maskRanks: MakePoint = (values, sizes) => {
  const rank = numberAt(values, 'maskRank');
  const B = batch(numberAt(values, 'B'), sizes);
  const [H] = heads(numberAt(values, 'H'), numberAt(values, 'H'), sizes);
  const [Sq, Skv] = [numberAt(values, 'Sq'), numberAt(values, 'Skv')];
  return {
    dims: dims(B, H, Sq, Skv, numberAt(values, 'D')),
    ...{ dtype: 'f16', inputs: 'normal', upstream: 'drawn', backward: false },
    options: stream => ({ bias: normalTensor(stream, [B, H, Sq, Skv].slice(4 - rank), 'f16') }),
  };
};

const largeMask =
  (bool: boolean, backward: boolean): MakePoint =>
  (values, sizes) => {
    const B = batch(numberAt(values, 'B'), sizes);
    const [H] = heads(numberAt(values, 'H'), numberAt(values, 'H'), sizes);
    const Sq = sequenceLength(numberAt(values, 'Sq'), sizes);
    const Skv = sequenceLength(numberAt(values, 'Skv'), sizes);
    const dtype = dtypeAt(values);
    if (!dtype) return null;
    return {
      dims: dims(B, H, Sq, Skv, numberAt(values, 'D')),
      ...{ dtype, inputs: 'normal', upstream: 'drawn', backward },
      options: (stream): SdpaOptions<Tensor> => {
        if (!bool) return { bias: normalTensor(stream, [B, H, Sq, Skv], dtype) };
        const bits = Array.from({ length: B * Sq * Skv }, () => stream.nextU32() & 1);
        return { mask: Tensor.from(bits, [B, 1, Sq, Skv], { dtype: 'bool' }) };
      },
    };
  };

const differentDv: MakePoint = (values, sizes) => {
  const S = sequenceLength(numberAt(values, 'S'), sizes);
  const [H] = heads(numberAt(values, 'H'), numberAt(values, 'H'), sizes);
  const shape = dims(batch(numberAt(values, 'B'), sizes), H, S, S, numberAt(values, 'Dqk'));
  return {
    dims: { ...shape, Dv: numberAt(values, 'Dv') },
    ...{ dtype: dtypeAt(values) ?? 'bf16', inputs: 'normal', upstream: 'drawn', backward: true },
    options: () => ({}),
  };
};

/** Keys and values of one head, shared by all heads through a stride of 0. */
const sharedHeads: MakePoint = values => {
  const [B, H, Sq, D] = numbersAt(values, 'q');
  const Skv = numbersAt(values, 'kv')[2];
  return {
    dims: dims(B, H, Sq, Skv, D),
    ...{ dtype: 'f32', inputs: 'normal', upstream: 'drawn', backward: false, layout: 'shared heads' },
    options: stream => {
      const bits = Array.from({ length: B * Skv }, () => stream.nextU32() & 1);
      return { mask: Tensor.from(bits, numbersAt(values, 'mask'), { dtype: 'bool' }) };
    },
  };
};

export function normalTensor(stream: PhiloxStream, shape: readonly number[], dtype: DType): Tensor {
  return drawnTensor(() => stream.nextNormal(), shape, dtype);
}

function uniformTensor(stream: PhiloxStream, shape: readonly number[], dtype: DType): Tensor {
  return drawnTensor(() => stream.nextU32() / 2 ** 32, shape, dtype);
}

function drawnTensor(next: () => number, shape: readonly number[], dtype: DType): Tensor {
  const count = elementCount(shape);
  return Tensor.from(Float64Array.from({ length: count }, next), shape, { dtype });
}

const noFloat64 =
  'it checks float64, which is not a storage dtype; finite differences are in the tests of core';

/** The groups of PyTorch's `test_transformers.py`. */
export const torchGroups: Readonly<Record<string, GroupRunner>> = {
  'torch.flash_vs_math_grads': { make: flash },
  'torch.memeff_vs_math_grads': { make: memoryEfficient },
  'torch.memeff_attnmask_vs_math_grads': { make: withBias },
  'torch.cudagraph_fused': { make: againstMath(values => ({ repeat: values.dropoutP === 0 })) },
  'torch.nested_flash': { make: nested },
  'torch.cpu_mask_vs_math': {
    make: masked,
    axes: { broadcast: Array.from({ length: 16 }, (_, n) => n.toString(2).padStart(4, '0')) },
  },
  'torch.fully_masked_rows': { make: fullyMaskedRows },
  'torch.causal_variants': { make: causalVariants },
  'torch.math_gradcheck': { unsupported: noFloat64 },
  'torch.memeff_small_f32': { make: small },
  'torch.flash_small': { make: small },
  'torch.sdpa_with_inf': { make: infiniteBand },
  'torch.negative_scale': { make: negativeScale },
  'torch.mask_ranks': { make: maskRanks },
  'torch.noncontig_mask_bug': { make: sharedHeads },
  'torch.long_mask': { make: largeMask(false, false) },
  'torch.cudnn_dk_dv': { make: differentDv },
  'torch.cudnn_nonmod64': { make: largeMask(true, true) },
  'torch.layout_preserved': {
    unsupported:
      'results are contiguous in (B, H, S, D); plans write them in any layout, which the suite cudnn tests',
  },
  'flex.dlse_gradcheck': { unsupported: noFloat64 },
};
