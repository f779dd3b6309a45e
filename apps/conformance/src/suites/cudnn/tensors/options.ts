import {
  elementCount,
  type GradientName,
  type MaskDropout,
  type PhiloxDropout,
  type SdpaBackwardOptions,
  type SdpaOptions,
  Tensor,
} from '@tilewise/core';
import { cudnnOptions } from '@tilewise/graph/cudnn';
import type { Concrete } from '../concrete/concrete.ts';
import { drawBits, drawBytes, drawTensor } from './data.ts';
import { scoreProgram } from './score-programs.ts';

/** The seed and offset from which cuDNN's tests draw every dropout mask. */
const usualSeed = 123456n;
const usualOffset = 789n;

/** The share of probabilities that a given mask keeps. */
const kept = 0.9;

/** The options of a call that do not depend on the layout of its tensors. */
export function commonOptions(c: Concrete): SdpaOptions<Tensor> {
  const { flags, band, scale, outDType, precision } = c;
  const { Hq } = c.dims;
  const mod = scoreProgram(c);
  const bias = biasOf(c);
  const dropout = dropoutOf(c);
  return {
    ...cudnnOptions<Tensor, number>({
      attnScale: scale,
      useAlibiMask: flags.alibi ?? false,
      ...(bias && { bias }),
      ...(flags.block_mask && { blockMask: blockMaskOf(c) }),
      ...(flags.sink_token && { sinkToken: drawTensor(c, 'sink', [Hq], 'f32') }),
    }),
    outDType,
    ...(band && { window: band }),
    ...(flags.softcap !== undefined && flags.score_mod === undefined && { softcap: flags.softcap }),
    ...(mod && { scoreMod: mod }),
    ...(dropout && { dropout }),
    outputs: {
      max: flags.score_max ?? false,
      sumExp: flags.score_sum_exp ?? false,
      dropoutMask: flags.rng_dump ?? false,
      // cuDNN's FP8 nodes always measure these values.
      amaxS: precision === 'fp8',
      amaxO: precision !== 'float',
    },
  };
}

/** The options of backward, besides those of forward. */
export function backwardOptions(c: Concrete): SdpaBackwardOptions<Tensor> {
  const { precision, outDType } = c;
  return {
    gradients: wantedGradients(c),
    ...(precision !== 'float' && {
      gradDType: outDType,
      outputs: { amaxDQ: true, amaxDK: true, amaxDV: true, amaxDP: precision === 'fp8' },
    }),
  };
}

/** The gradients of a call that are compared. */
export function wantedGradients({ flags }: Concrete): GradientName[] {
  const wanted: GradientName[] = ['dq', 'dk', 'dv'];
  if (flags.bias) wanted.push('dbias');
  if (flags.sink_token || flags.dSink) wanted.push('dsink');
  return wanted;
}

/** The shape from the case; if it gives none, one that all batch entries share. */
function biasOf(c: Concrete): Tensor | null {
  const { bias, bias_dtype } = c.flags;
  if (!bias && bias_dtype === undefined) return null;
  const { Hq, Sq, Skv } = c.dims;
  const listed = typeof bias === 'string' ? (bias.match(/\d+/g) ?? []).map(Number) : bias;
  const shape = Array.isArray(listed) ? listed : [1, Hq, Sq, Skv];
  const dtype =
    bias_dtype === 'bool'
      ? 'bool'
      : bias_dtype === 'fp32'
        ? 'f32'
        : c.precision === 'float'
          ? c.dtype
          : 'f16';
  return drawTensor(c, 'bias', shape, dtype);
}

function blockMaskOf(c: Concrete): Tensor {
  const { B, Hq, Sq, Skv } = c.dims;
  const tile = (n: number): number => Math.ceil(n / 128);
  const { block_mask } = c.flags;
  const shape = Array.isArray(block_mask) ? block_mask : [B, Hq, tile(Sq), Math.ceil(tile(Skv) / 8)];
  const count = elementCount(shape);
  return Tensor.from(drawBytes(c, 'blockMask', count), shape, { dtype: 'u8' });
}

function dropoutOf(c: Concrete): PhiloxDropout | MaskDropout<Tensor> | null {
  const { dropout, seed = usualSeed, offset = usualOffset } = c.flags;
  if (dropout === undefined) return null;
  if (typeof dropout === 'number') return philoxDropout(dropout, seed, offset);
  const { B, Sq, Skv } = c.dims;
  const keep = Tensor.from(drawBits(c, 'dropoutMask', kept, B * Sq * Skv), [B, 1, Sq, Skv], {
    dtype: 'bool',
  });
  const given = cudnnOptions<Tensor, number>({ dropout: [keep, 1 / kept] }).dropout ?? null;
  // A case that sets both: the types of our options do not allow that.
  const both: object = { ...given, p: 1 - kept, seed, offset };
  return Array.isArray(dropout) ? (both as MaskDropout<Tensor>) : given;
}

function philoxDropout(p: number, seed: bigint, offset: bigint): PhiloxDropout | null {
  const { dropout } = cudnnOptions<Tensor, bigint>({ dropout: [p, seed, offset] });
  return dropout && 'seed' in dropout ? dropout : null;
}
