import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { isInteger } from '../../file/element-type.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { gathered } from '../indexing/moved.ts';

/** A dimension that is resized: its extents before and after, and the scale that the coordinates take. */
interface ResizedAxis {
  readonly axis: number;
  readonly from: number;
  readonly to: number;
  readonly scale: number;
}

/** The most weights of an axis that are computed while a model is read. */
const MOST_WEIGHTS = 2 ** 24;

type Coordinate = (x: number, axis: ResizedAxis) => number;

const halfPixel: Coordinate = (x, { scale }) => (x + 0.5) / scale - 0.5;

/** The place in the input of an element of the result, by `coordinate_transformation_mode`. */
const coordinates = new Map<string, Coordinate>([
  ['half_pixel', halfPixel],
  ['pytorch_half_pixel', (x, axis) => (axis.to > 1 ? halfPixel(x, axis) : 0)],
  ['half_pixel_symmetric', (x, axis) => (axis.from - axis.to / axis.scale) / 2 + halfPixel(x, axis)],
  ['align_corners', (x, { from, to }) => (to > 1 ? (x * (from - 1)) / (to - 1) : 0)],
  ['asymmetric', (x, { scale }) => x / scale],
  ['tf_half_pixel_for_nn', (x, { scale }) => (x + 0.5) / scale],
]);

/** How a place between elements is rounded, by `nearest_mode`. */
const roundings = new Map<string, (x: number, axis: ResizedAxis) => number>([
  // Version 10 says nothing: as in its tests, and in onnxruntime.
  ['', (x, { scale }) => (scale < 1 ? Math.ceil(x) : Math.floor(x))],
  ['round_prefer_floor', x => Math.ceil(x - 0.5)],
  ['round_prefer_ceil', x => Math.floor(x + 0.5)],
  ['floor', Math.floor],
  ['ceil', Math.ceil],
]);

/** The scale of all axes, where sizes may not change their ratio, by `keep_aspect_ratio_policy`; 0 else. */
const policies = new Map<string, (...scales: number[]) => number>([
  ['stretch', () => 0],
  ['not_larger', Math.min],
  ['not_smaller', Math.max],
]);

/** What an attribute says; versions before 11 have none of these attributes, and one way. */
function chosen<T>(
  call: NodeCall,
  name: string,
  ways: ReadonlyMap<string, T>,
  standard: string,
  first: string,
): T {
  const way = call.version < 11 ? first : call.text(name, standard);
  return ways.get(way) ?? call.refuse(`has the ${name} '${way}'`);
}

/** A kernel of interpolation: the weight of an element at a distance, which is 0 from `radius` on. */
interface Interpolation {
  readonly radius: number;
  readonly weight: (distance: number) => number;
}

function interpolationOf(call: NodeCall, mode: string): Interpolation {
  if (mode === 'linear') return { radius: 1, weight: t => 1 - t };
  // Keys, "Cubic convolution interpolation for digital image processing", 1981, eq. 4 with a free a.
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
  // Since version 11 a region of interest stands before the scales, and sizes behind them.
  const [scales, sizes] = call.version < 11 ? [listed(1), []] : [listed(2), listed(3)];
  const given = sizes.length > 0 ? sizes : scales;
  if (given.length !== axes.length || given.some(n => !(n > 0)))
    call.fail(`needs a positive scale or size for each of ${axes.length} axes, got [${given}]`);
  const ratios = sizes.length > 0 ? axes.map((d, n) => (sizes[n] ?? 1) / (shape[d] ?? 1)) : scales;
  const policy = chosen(call, 'keep_aspect_ratio_policy', policies, 'stretch', 'stretch');
  const common = sizes.length > 0 ? policy(...ratios) : 0;
  return axes.map((axis, n) => {
    const from = shape[axis] ?? 1;
    const scale = common || (ratios[n] ?? 1);
    const to = common ? Math.floor(from * common + 0.5) : (sizes[n] ?? Math.floor(from * scale));
    if (from * to > MOST_WEIGHTS) call.refuse(`makes ${to} of ${from} elements of an axis`);
    return { axis, from, to, scale };
  });
}

/** Rows of weights: element x of the result is the sum of weights[x][i] times element i. */
function weightsOf(
  call: NodeCall,
  { radius, weight }: Interpolation,
  axis: ResizedAxis,
  coordinate: Coordinate,
): number[][] {
  const { from, to } = axis;
  const [antialias, insideAlone] = [call.flag('antialias', false), call.flag('exclude_outside', false)];
  // A filter against aliasing is as much wider as the result is smaller.
  const narrowing = antialias ? Math.min(1, axis.scale) : 1;
  return Array.from({ length: to }, (_, x) => {
    const place = coordinate(x, axis);
    const row = new Array<number>(from).fill(0);
    let sum = 0;
    const first = Math.ceil(place - radius / narrowing);
    for (let i = first; i < place + radius / narrowing; i++) {
      const isInside = i >= 0 && i < from;
      if (insideAlone && !isInside) continue;
      const own = weight(Math.abs(i - place) * narrowing);
      const nearest = Math.min(from - 1, Math.max(0, i));
      row[nearest] = (row[nearest] ?? 0) + own;
      sum += own;
    }
    return antialias || insideAlone ? row.map(own => own / sum) : row;
  });
}

/** The sums of elements along an axis by rows of weights. */
function weighted(
  call: NodeCall,
  x: LogicalTensor,
  axis: number,
  weights: readonly number[][],
): LogicalTensor {
  const { length } = shapeOf(x);
  const last = Array.from({ length }, (_, d) => d).filter(d => d !== axis);
  const order = [...last, axis];
  const constant = { shape: [weights.length, weights[0]?.length ?? 0], values: weights.flat() };
  const { draft } = call;
  const product = draft.op(
    'MatMul',
    [draft.transpose(x, order), call.constant(constant, call.input(0).type)],
    { transpose_b: true },
  );
  return draft.transpose(
    product,
    order.map((_, d) => order.indexOf(d)),
  );
}

/**
 * Images of another size: the nearest elements, or a product with a matrix of interpolation along each axis,
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
    const sources = shape.map((extent, d) => {
      const own = axes.find(({ axis }) => axis === d);
      return Array.from({ length: to[d] ?? 0 }, (_, x) =>
        own ? Math.min(extent - 1, Math.max(0, rounded(coordinate(x, own), own))) : x,
      );
    });
    return gathered(call, value, sources);
  }
  // Versions before 11 call the mode by the number of dimensions that they had in mind.
  if (!['linear', 'bilinear', 'trilinear', 'cubic'].includes(mode))
    return call.fail(`has the mode '${mode}'`);
  if (isInteger(type)) return call.refuse(`interpolates ${type.name}`);
  const interpolation = interpolationOf(call, mode === 'cubic' ? 'cubic' : 'linear');
  return result({ type, shape: to }, () =>
    axes.reduce((tensor, own) => {
      if (own.from === own.to && own.scale === 1) return tensor;
      return weighted(call, tensor, own.axis, weightsOf(call, interpolation, own, coordinate));
    }, value.tensor()),
  );
};

export const resizeOperators: Readonly<Record<string, OnnxOperator>> = { Resize: resize };
