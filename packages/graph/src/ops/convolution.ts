import { add, and, eq, floorDiv, ge, lt, mod, mul, type NumericExpr, select, sub } from '@tilewise/core/expr';
import { coordinate, input, inputAt } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../ir/program/lowering.ts';
import { defineOperations } from '../ir/schema/define.ts';
import type { GradientCall, Operation } from '../ir/schema/operation.ts';
import type { ResolvedAttributes } from '../ir/schema/schema.ts';
import { isKnown, type LogicalShape, type LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { checkShape, refuse } from '../ir/tensor/shape.ts';

const list = { type: 's64[]', required: true } as const;
const groups = { type: 's64', default: 1 } as const;
const attributes = {
  strides: list as typeof list,
  pads_begin: list as typeof list,
  pads_end: list as typeof list,
  dilations: list as typeof list,
  groups: groups as typeof groups,
  data_format: { type: 'string', default: 'NCX', among: ['NCX'] },
  weights_format: { type: 'string', default: 'OIX', among: ['OIX'] },
} as const;
/** The attributes of a gradient: those of the convolution, and the shape of the gradient. */
const backwardAttributes: typeof attributes & { readonly shape: typeof list } = {
  ...attributes,
  shape: list,
};

export const convolutionSchemas = {
  Convolution: {
    inputs: 'src:T weights:T bias?:T',
    outputs: 'dst:T',
    attributes: attributes as typeof attributes,
  },
  ConvolutionBackwardData: {
    inputs: 'diff_dst:T weights:T',
    outputs: 'diff_src:T',
    attributes: backwardAttributes as typeof backwardAttributes,
  },
  ConvolutionBackwardWeights: {
    inputs: 'src:T diff_dst:T',
    outputs: 'diff_weights:T',
    attributes: backwardAttributes as typeof backwardAttributes,
  },
} as const;

type Geometry = ResolvedAttributes<typeof attributes>;

/** Checks that a gradient has the shape of the convolution's result. */
function checkGradient(
  dy: LogicalTensor,
  src: LogicalShape,
  weights: LogicalShape,
  geometry: Geometry,
): void {
  if (isKnown(src) && isKnown(weights))
    checkShape('a gradient of', dy.shape, outputShape(src, weights, geometry));
}

function outputShape(src: readonly number[], weights: readonly number[], geometry: Geometry): number[] {
  const { strides, pads_begin, pads_end, dilations, groups } = geometry;
  const spatial = src.slice(2);
  const fail = (rule: string): never => refuse(`of [${src}] with weights [${weights}] ${rule}`);
  if (spatial.length < 1 || weights.length !== src.length)
    fail('needs (N, C, …) and (O, C / groups, …) of the same rank, at least 3');
  const lists = { strides, pads_begin, pads_end, dilations };
  for (const [name, list] of Object.entries(lists)) {
    const least = name.startsWith('pads') ? 0 : 1;
    if (list.length !== spatial.length || list.some(n => n < least))
      fail(`needs ${spatial.length} ${name} ≥ ${least}, got [${list}]`);
  }
  if (groups < 1 || weights[1] * groups !== src[1] || weights[0] % groups !== 0)
    fail(`does not split into ${groups} groups`);
  const extents = spatial.map((n, d) => {
    const covered = dilations[d] * (weights[2 + d] - 1) + 1;
    return Math.floor((n + pads_begin[d] + pads_end[d] - covered) / strides[d]) + 1;
  });
  if (extents.some(n => n < 1)) fail('has a kernel that is larger than the padded input');
  return [src[0], weights[0], ...extents];
}

/** The coordinates of the domain from dimension `first` on, one for each spatial dimension. */
const places = (first: number, count: number): NumericExpr[] =>
  Array.from({ length: count }, (_, d) => coordinate(first + d));

/**
 * The input position along each dimension that an output position and a kernel position read, and whether it
 * is inside the input.
 */
function readAt(
  out: readonly NumericExpr[],
  kernel: readonly NumericExpr[],
  src: readonly number[],
  geometry: Geometry,
) {
  const { strides, pads_begin, dilations } = geometry;
  const at = out.map((o, d) => sub(add(mul(o, strides[d]), mul(kernel[d], dilations[d])), pads_begin[d]));
  return { at, isInside: and(...at.flatMap((x, d) => [ge(x, 0), lt(x, src[2 + d])])) };
}

/** The sums of an element over the dimensions `over`, which follow the output's dimensions. */
function summed(
  { reshaped, reduced, outputs }: Lowering,
  inputs: readonly Value[],
  over: readonly number[],
  element: NumericExpr,
): Value {
  const [{ shape }] = outputs.map(({ desc }) => desc);
  const axes = over.map((_, d) => shape.length + d);
  return reshaped(reduced(inputs, { axes, domain: [...shape, ...over], element }), shape);
}

const kind = 'Convolution';

/**
 * Writes one of the three operations as a gradient of another. Σ dst∘Convolution(src, weights) is linear in
 * dst, src and weights, and its derivative with respect to each of them is one of the three operations.
 * @param like the forward tensor whose shape a gradient by src or weights has.
 */
function partial(
  { builder, attributes, dy }: GradientCall<Geometry & { readonly shape?: readonly number[] }>,
  operation: string,
  operands: readonly LogicalTensor[],
  like?: LogicalTensor,
): LogicalTensor {
  const { shape: _, ...geometry } = attributes;
  // The gradient of a 16-bit result may be f32.
  const cast = operands.map(t => builder.cast(t, dy.dtype));
  return builder.op(operation, cast, like ? { ...geometry, shape: builder.shapeOf(like) } : geometry);
}

/** Convolutions with any number of spatial dimensions. Each output element is computed as its own sum. */
export const convolutionOperations: readonly Operation[] = defineOperations(convolutionSchemas, {
  /** Cross-correlation of src (N, C, …) with weights (O, C / groups, …), plus a bias (O). */
  Convolution: {
    infer: ({ attributes: a, inputs: [src, weights, bias] }) => {
      if (!isKnown(src.shape) || !isKnown(weights.shape)) return [null];
      if (bias) checkShape('a bias of', bias.shape, weights.shape.slice(0, 1));
      return [outputShape(src.shape, weights.shape, a)];
    },
    gradient: call => {
      const { builder, inputs, outputs, dy } = call;
      const [src, weights] = inputs;
      const axes = builder.shapeOf(outputs[0]).flatMap((_, d) => (d === 1 ? [] : [d]));
      return [
        () => partial(call, `${kind}BackwardData`, [dy, builder.forward(weights)], src),
        () => partial(call, `${kind}BackwardWeights`, [builder.forward(src), dy], weights),
        // Not called without a bias.
        () => builder.op('ReduceSum', [dy], { axes }),
      ];
    },
    lower: (lowering, { attributes: a }) => {
      const [src, weights, bias] = lowering.inputs;
      const [dst] = lowering.outputs;
      const rank = dst.desc.shape.length;
      const [outputs, channels, ...kernel] = weights.desc.shape;
      const place = places(rank + 1, kernel.length);
      const { at, isInside } = readAt(places(2, kernel.length), place, src.desc.shape, a);
      const group = mul(floorDiv(coordinate(1), outputs / a.groups), channels);
      const product = mul(
        inputAt(0, [coordinate(0), add(group, coordinate(rank)), ...at]),
        inputAt(1, [coordinate(1), coordinate(rank), ...place]),
      );
      const sums = summed(lowering, [src, weights], [channels, ...kernel], select(isInside, product, 0));
      if (bias) lowering.map(add(input(0), inputAt(1, [coordinate(1)])), [sums, bias], dst);
      else lowering.copy(sums, dst);
    },
  },
  /** The gradient of Convolution with respect to src, in the shape `shape`. */
  ConvolutionBackwardData: {
    infer: ({ attributes: a, inputs: [dy, weights] }) => {
      checkGradient(dy, a.shape, weights.shape, a);
      return [a.shape];
    },
    gradient: call => {
      const { builder, inputs, dy } = call;
      const [own, weights] = inputs;
      return [
        () => partial(call, kind, [dy, builder.forward(weights)]),
        () => partial(call, `${kind}BackwardWeights`, [dy, builder.forward(own)], weights),
      ];
    },
    lower: (lowering, { attributes: a }) => {
      const [dy, weights] = lowering.inputs;
      const [dx] = lowering.outputs;
      const rank = dx.desc.shape.length;
      const [outputs, channels, ...kernel] = weights.desc.shape;
      const perGroup = outputs / a.groups;
      const place = places(rank + 1, kernel.length);
      const distance = place.map((k, d) =>
        sub(add(coordinate(2 + d), a.pads_begin[d]), mul(k, a.dilations[d])),
      );
      const at = distance.map((x, d) => floorDiv(x, a.strides[d]));
      const isInside = and(
        ...at.flatMap((o, d) => [
          ge(o, 0),
          lt(o, dy.desc.shape[2 + d]),
          eq(mod(distance[d], a.strides[d]), 0),
        ]),
      );
      const output = add(mul(floorDiv(coordinate(1), channels), perGroup), coordinate(rank));
      const product = mul(
        inputAt(0, [coordinate(0), output, ...at]),
        inputAt(1, [output, mod(coordinate(1), channels), ...place]),
      );
      const element = select(isInside, product, 0);
      lowering.copy(summed(lowering, [dy, weights], [perGroup, ...kernel], element), dx);
    },
  },
  /** The gradient of Convolution with respect to the weights, in the shape `shape`. */
  ConvolutionBackwardWeights: {
    infer: ({ attributes: a, inputs: [src, dy] }) => {
      checkGradient(dy, src.shape, a.shape, a);
      return [a.shape];
    },
    gradient: call => {
      const { builder, inputs, dy } = call;
      const [src, own] = inputs;
      return [
        () => partial(call, `${kind}BackwardData`, [builder.forward(own), dy], src),
        () => partial(call, kind, [builder.forward(src), dy]),
      ];
    },
    lower: (lowering, { attributes: a }) => {
      const [src, dy] = lowering.inputs;
      const [dw] = lowering.outputs;
      const [outputs, channels, ...kernel] = dw.desc.shape;
      const rank = kernel.length + 2;
      const [batch, , ...extents] = dy.desc.shape;
      const out = places(rank + 1, kernel.length);
      const { at, isInside } = readAt(out, places(2, kernel.length), src.desc.shape, a);
      const group = mul(floorDiv(coordinate(0), outputs / a.groups), channels);
      const product = mul(
        inputAt(0, [coordinate(rank), add(group, coordinate(1)), ...at]),
        inputAt(1, [coordinate(rank), coordinate(0), ...out]),
      );
      const element = select(isInside, product, 0);
      lowering.copy(summed(lowering, [src, dy], [batch, ...extents], element), dw);
    },
  },
});
