import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { floatType, isInteger } from '../../file/element-type.ts';
import { NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { gathered } from '../indexing/moved.ts';

/** A resized dimension: its extents before and after, and the scale of coordinates. */
interface ResizedAxis {
  readonly axis: number;
  readonly from: number;
  readonly to: number;
  readonly scale: number;
}

/** The maximum number of weights per axis that are computed while a model is read. */
const MAX_WEIGHTS = 2 ** 24;

type Coordinate = (x: number, axis: ResizedAxis) => number;

const halfPixel: Coordinate = (x, { scale }) => (x + 0.5) / scale - 0.5;

/**
 * The position in the input that an element of the result is computed at, by
 * `coordinate_transformation_mode`.
 */
const coordinates = new Map<string, Coordinate>([
  ['half_pixel', halfPixel],
  ['pytorch_half_pixel', (x, axis) => (axis.to > 1 ? halfPixel(x, axis) : 0)],
  ['half_pixel_symmetric', (x, axis) => (axis.from - axis.to / axis.scale) / 2 + halfPixel(x, axis)],
  ['align_corners', (x, { from, to }) => (to > 1 ? (x * (from - 1)) / (to - 1) : 0)],
  ['asymmetric', (x, { scale }) => x / scale],
  ['tf_half_pixel_for_nn', (x, { scale }) => (x + 0.5) / scale],
]);

/** How a position between elements is rounded, by `nearest_mode`. */
const roundings = new Map<string, (x: number, axis: ResizedAxis) => number>([
  // Version 10 does not specify the rounding; this matches its tests and onnxruntime.
  ['', (x, { scale }) => (scale < 1 ? Math.ceil(x) : Math.floor(x))],
  ['round_prefer_floor', x => Math.ceil(x - 0.5)],
  ['round_prefer_ceil', x => Math.floor(x + 0.5)],
  ['floor', Math.floor],
  ['ceil', Math.ceil],
]);

/** The common scale of all axes if the aspect ratio must be kept, by `keep_aspect_ratio_policy`; else 0. */
const policies = new Map<string, (...scales: number[]) => number>([
  ['stretch', () => 0],
  ['not_larger', Math.min],
  ['not_smaller', Math.max],
]);

/** The choice that an attribute names. Versions before 11 lack these attributes and have a fixed choice. */
function chosen<T>(
  call: NodeCall,
  name: string,
  choices: ReadonlyMap<string, T>,
  standard: string,
  first: string,
): T {
  const chosenName = call.version < 11 ? first : call.text(name, standard);
  return choices.get(chosenName) ?? call.refuse(`has the ${name} '${chosenName}', which is not supported`);
}

/** An interpolation kernel: the weight of an element at a distance, which is 0 from `radius` on. */
interface Interpolation {
  readonly radius: number;
  readonly weight: (distance: number) => number;
}

function interpolationOf(call: NodeCall, mode: string): Interpolation {
  if (mode === 'linear') return { radius: 1, weight: t => 1 - t };
  // Keys, "Cubic convolution interpolation for digital image processing", 1981, eq. 4 with a variable a.
  const a = call.float('cubic_coeff_a', -0.75);
  return {
    radius: 2,
    weight: t => (t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1 : ((t - 5) * a * t + 8 * a) * t - 4 * a),
  };
}

/** The extents of the result, and the scale of each dimension. */
function resizedAxes(call: NodeCall): ResizedAxis[] {
  const { shape } = call.input(0);
  const axes = call.ints('axes')?.map(d => call.axis(d, shape.length)) ?? shape.map((_, d) => d);
  const listed = (n: number): number[] => (call.has(n) ? call.numbers(n) : []);
  // Since version 11, a region of interest precedes the scales, and sizes follow them.
  const [scales, sizes] = call.version < 11 ? [listed(1), []] : [listed(2), listed(3)];
  const given = sizes.length > 0 ? sizes : scales;
  if (given.length !== axes.length || given.some(n => !(n > 0)))
    call.fail(`needs a positive scale or size for each axis, got [${given}]`);
  const ratios = sizes.length > 0 ? axes.map((d, n) => sizes[n] / shape[d]) : scales;
  const policy = chosen(call, 'keep_aspect_ratio_policy', policies, 'stretch', 'stretch');
  const common = sizes.length > 0 ? policy(...ratios) : 0;
  return axes.map((axis, n) => {
    const from = shape[axis];
    const scale = common || ratios[n];
    const to = common ? Math.floor(from * common + 0.5) : (sizes[n] ?? Math.floor(from * scale));
    if (Math.max(1, from) * to > MAX_WEIGHTS)
      call.refuse(`resizes ${from} elements to ${to}, which takes too many weights`);
    return { axis, from, to, scale };
  });
}

/**
 * The weights of all result elements: element x is the sum of weights[x · from + i] times input element i.
 */
function weightsOf(
  call: NodeCall,
  { radius, weight }: Interpolation,
  axis: ResizedAxis,
  coordinate: Coordinate,
): Float64Array {
  const { from, to } = axis;
  const [antialias, excludesOutside] = [call.flag('antialias', false), call.flag('exclude_outside', false)];
  // An antialiasing filter is widened in proportion to the reduction.
  const narrowing = antialias ? Math.min(1, axis.scale) : 1;
  const weights = new Float64Array(to * from);
  for (let x = 0; x < to; x++) {
    const place = coordinate(x, axis);
    let sum = 0;
    const first = Math.ceil(place - radius / narrowing);
    for (let i = first; i < place + radius / narrowing; i++) {
      const isInside = i >= 0 && i < from;
      if (excludesOutside && !isInside) continue;
      const own = weight(Math.abs(i - place) * narrowing);
      weights[x * from + Math.min(from - 1, Math.max(0, i))] += own;
      sum += own;
    }
    if (antialias || excludesOutside) for (let i = 0; i < from; i++) weights[x * from + i] /= sum;
  }
  return weights;
}

/** The weighted sums of elements along an axis. */
function weighted(
  call: NodeCall,
  x: LogicalTensor,
  { axis, from, to }: ResizedAxis,
  values: Float64Array,
): LogicalTensor {
  const { length } = shapeOf(x);
  const last = Array.from({ length }, (_, d) => d).filter(d => d !== axis);
  const order = [...last, axis];
  const { draft } = call;
  const product = draft.op(
    'MatMul',
    [draft.transpose(x, order), call.constant({ shape: [to, from], values }, call.input(0).type)],
    { transpose_b: true },
  );
  return draft.transpose(
    product,
    order.map((_, d) => order.indexOf(d)),
  );
}

/**
 * Resizes images by nearest elements, or by a product with an interpolation matrix along each axis:
 * https://onnx.ai/onnx/operators/onnx__Resize.html.
 */
const resize: OnnxOperator = call => {
  const value = call.input(0);
  const { shape, type } = value;
  const mode = call.text('mode', 'nearest');
  const axes = resizedAxes(call);
  const coordinate = chosen(call, 'coordinate_transformation_mode', coordinates, 'half_pixel', 'asymmetric');
  const to = shape.map((extent, d) => axes.find(({ axis }) => axis === d)?.to ?? extent);
  if (mode === 'nearest') {
    const rounded = chosen(call, 'nearest_mode', roundings, 'round_prefer_floor', '');
    return gathered(call, value, to, (x, d) => {
      const own = axes.find(({ axis }) => axis === d);
      // In f64, a position that is a whole number may come out just below or above it.
      return own ? Math.min(own.from - 1, Math.max(0, rounded(Math.fround(coordinate(x, own)), own))) : x;
    });
  }
  // Versions before 11 name the mode after the intended number of dimensions.
  if (!['linear', 'bilinear', 'trilinear', 'cubic'].includes(mode))
    return call.fail(`has the mode '${mode}', which is not supported`);
  if (isInteger(type)) return call.refuse(`interpolates ${type.name}`);
  const interpolation = interpolationOf(call, mode === 'cubic' ? 'cubic' : 'linear');
  return result({ type, shape: to }, () =>
    axes.reduce((tensor, own) => {
      if (own.from === own.to && own.scale === 1) return tensor;
      return weighted(call, tensor, own, weightsOf(call, interpolation, own, coordinate));
    }, value.tensor()),
  );
};

/** Resize of versions before 10, whose scales are an input, or an attribute before version 9. */
const upsample: OnnxOperator = call => {
  const x = call.input(0);
  const values = call.attribute('scales', 'floats') ?? [];
  const given = { name: 'scales', type: floatType, shape: [values.length], isStatic: true, isWeight: false };
  const tensor = (): never => call.refuse('has scales that are not numbers');
  const scales = call.optional(1) ?? { ...given, host: () => ({ shape: given.shape, values }), tensor };
  return resize(new NodeCall(call.node, 10, call, [x, scales]));
};

/** Resizing of images. */
export const resizeOperators: Readonly<Record<string, OnnxOperator>> = {
  Resize: resize,
  Upsample: upsample,
};
