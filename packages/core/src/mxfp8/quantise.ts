import { checkObject, checkOneOf, checkOptions, InvalidDTypeError, InvalidShapeError } from '../errors.ts';
import { checkHostTensor } from '../tensor/checks/check-on-host.ts';
import { checkTensorOf } from '../tensor/checks/check-tensor.ts';
import { rounder } from '../tensor/dtype/convert.ts';
import { dtypeInfo } from '../tensor/dtype/dtype.ts';
import { type FloatFormat, float8e4m3, float8e5m2 } from '../tensor/dtype/float-format.ts';
import { Tensor } from '../tensor/tensor.ts';
import {
  type BlockAxis,
  type BlockScaleLayout,
  blockAxes,
  blockScaleCode,
  blockScaleIndex,
  blockScaleLayouts,
  blockScaleShape,
  e8m0Value,
  MXFP8_BLOCK,
} from './block-scales.ts';

const mxfp8DTypes = ['f8e4m3', 'f8e5m2'] as const;

/** The 8-bit formats of tensors with block scales. */
export type Mxfp8DType = (typeof mxfp8DTypes)[number];

/** A tensor in MXFP8. */
export interface Mxfp8Tensor {
  /** (B, H, S, D), contiguous. */
  readonly values: Tensor;
  /** u8, E8M0 codes, in the shape of the layout; the scales of padding are 0. */
  readonly scales: Tensor;
}

/** Which neighbours share a scale, and the layout of the scales. */
interface BlockOptions {
  readonly along?: BlockAxis | undefined;
  readonly layout?: BlockScaleLayout | undefined;
}

/**
 * A (B, H, S, D) tensor of any float dtype in MXFP8 (OCP Microscaling 1.0): 32 neighbours share a power of
 * two with the exponent ⌈log2(amax / largest value of the format)⌉, as in Transformer Engine, so that no
 * finite element saturates. An infinity is stored as the largest value of the format, at a scale at which
 * that value exceeds f32, so it is an infinity again when it is dequantised. A NaN makes its block NaN.
 *
 * @param options.along the axis that a product sums over: channels (default) or positions.
 * @throws InvalidShapeError for another rank; InvalidDTypeError for integers; InvalidArgumentError for a
 * value that is not a tensor, or an unknown option.
 */
export function quantiseMxfp8(
  t: Tensor,
  options: BlockOptions & { readonly dtype?: Mxfp8DType | undefined } = {},
): Mxfp8Tensor {
  checkHostTensor('t', t);
  checkOptions('options', options, ['along', 'layout', 'dtype']);
  const { along, layout } = blocksOf(options);
  const { dtype = 'f8e4m3' } = options;
  checkOneOf('dtype', dtype, mxfp8DTypes);
  if (t.rank !== 4) throw new InvalidShapeError('t', `must be (B, H, S, D), got shape [${t.shape}]`);
  if (dtypeInfo[t.dtype].kind !== 'float')
    throw new InvalidDTypeError('t', `must be a float dtype, got ${t.dtype}`);
  const [, , S, D] = t.shape;
  const format = formatOf(dtype);
  const values = t.toFloat64();
  const scales = Tensor.zeros(blockScaleShape(t.shape, along, layout), { dtype: 'u8' });
  const scaleIndex = blockScaleIndex(t.shape, along, layout);
  const perHead = scales.shape[2] * scales.shape[3];
  const [outer, inner, outerStep, innerStep] = along === 'channels' ? [S, D, D, 1] : [D, S, 1, D];
  const heads = headsOf(t);
  for (let head = 0; head < heads; head++) {
    for (let a = 0; a < outer; a++) {
      for (let first = 0; first < inner; first += MXFP8_BLOCK) {
        const count = Math.min(MXFP8_BLOCK, inner - first);
        const at = head * S * D + a * outerStep + first * innerStep;
        const code = blockScaleCode(largest(values, at, innerStep, count), format);
        const [s, d] = along === 'channels' ? [a, first] : [first, a];
        scales.data[head * perHead + scaleIndex(s, d)] = code;
        const scale = e8m0Value(code);
        for (let n = 0; n < count; n++) values[at + n * innerStep] /= scale;
      }
    }
  }
  return { values: Tensor.from(values, t.shape, { dtype }), scales };
}

/**
 * The values of an MXFP8 tensor, as an f32 tensor; exact unless they exceed the range of f32.
 * @param options the axis and the layout that the tensor was quantised with.
 * @throws InvalidArgumentError for a value that is not a tensor, or an unknown option; InvalidDTypeError for
 * values that are not in an 8-bit format, or scales that are not u8; InvalidShapeError for values of another
 * rank than 4, or scales of another shape than the axis and the layout give.
 */
export function dequantiseMxfp8(tensor: Mxfp8Tensor, options: BlockOptions = {}): Tensor {
  checkObject('tensor', tensor);
  const { values, scales } = tensor;
  checkHostTensor('tensor.values', values);
  checkHostTensor('tensor.scales', scales);
  checkOptions('options', options, ['along', 'layout']);
  const { along, layout } = blocksOf(options);
  const { shape, dtype } = values;
  const isMxfp8 = (mxfp8DTypes as readonly string[]).includes(dtype);
  if (!isMxfp8)
    throw new InvalidDTypeError('tensor.values', `must be ${mxfp8DTypes.join(' or ')}, got ${dtype}`);
  if (shape.length !== 4)
    throw new InvalidShapeError('tensor.values', `must be (B, H, S, D), got shape [${shape}]`);
  checkTensorOf('tensor.scales', scales, blockScaleShape(shape, along, layout), 'u8');
  return dequantiseBlocks({ values, scales }, along, layout);
}

/** `dequantiseMxfp8` of a tensor whose scales have been checked. */
export function dequantiseBlocks(
  { values, scales }: Mxfp8Tensor,
  along: BlockAxis,
  layout: BlockScaleLayout,
): Tensor {
  const [, , S, D] = values.shape;
  const scaleIndex = blockScaleIndex(values.shape, along, layout);
  const factors = Float32Array.from(scales.contiguous().data, e8m0Value);
  const perHead = scales.shape[2] * scales.shape[3];
  const out = values.toFloat32();
  const heads = headsOf(values);
  for (let head = 0; head < heads; head++) {
    for (let s = 0; s < S; s++) {
      for (let d = 0; d < D; d++) {
        out[(head * S + s) * D + d] *= factors[head * perHead + scaleIndex(s, d)];
      }
    }
  }
  return Tensor.wrap(out, { dtype: 'f32', shape: values.shape });
}

/**
 * Rounds `values` to MXFP8 and back, in place, where the n-th block element of vector a is
 * `values[a·outerStep + n·innerStep]`.
 */
export function roundToBlocks(
  values: Float64Array | Float32Array,
  steps: Readonly<Record<'outer' | 'inner' | 'outerStep' | 'innerStep', number>>,
  dtype: Mxfp8DType,
): void {
  const { outer, inner, outerStep, innerStep } = steps;
  const format = formatOf(dtype);
  const round = rounder(dtype);
  for (let a = 0; a < outer; a++) {
    for (let first = 0; first < inner; first += MXFP8_BLOCK) {
      const count = Math.min(MXFP8_BLOCK, inner - first);
      const at = a * outerStep + first * innerStep;
      const scale = e8m0Value(blockScaleCode(largest(values, at, innerStep, count), format));
      for (let n = at; n < at + count * innerStep; n += innerStep)
        values[n] = round(values[n] / scale) * scale;
    }
  }
}

/** The number of heads that have elements: none of a tensor without elements, which may have any extents. */
function headsOf({ shape: [B, H], size }: Tensor): number {
  return size === 0 ? 0 : B * H;
}

function blocksOf(options: BlockOptions): Required<BlockOptions> {
  const { along = 'channels', layout = 'rows' } = options;
  return {
    along: checkOneOf('along', along, blockAxes),
    layout: checkOneOf('layout', layout, blockScaleLayouts),
  };
}

function largest(values: Float64Array | Float32Array, at: number, step: number, count: number): number {
  let amax = 0;
  for (let n = 0; n < count; n++) amax = Math.max(amax, Math.abs(values[at + n * step]));
  return amax;
}

function formatOf(dtype: Mxfp8DType): FloatFormat {
  return dtype === 'f8e4m3' ? float8e4m3 : float8e5m2;
}
