import { Tensor } from '@tilewise/core';
import { add, div, mul, type NumericExpr, pow, sub } from '@tilewise/core/expr';
import { input, reduced } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../lowering/lowering.ts';
import { numberOf } from '../schema/attribute.ts';
import type { GradientCall, InputGradient, Operation, OperationCall } from '../schema/operation.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import { optionalPort, port } from './ports.ts';

const epsilon = { epsilon: { type: 'f32', default: 1e-5 } } as const;

/** A mean over the last dimension of what `element` makes of the inputs; `result` makes of it what is stored. */
function meanOf(
  lowering: Lowering,
  inputs: readonly Value[],
  element: NumericExpr,
  result: (mean: NumericExpr) => NumericExpr = mean => mean,
): Value {
  const domain = inputs[0].desc.shape;
  const last = domain.length - 1;
  const mean = lowering.temporary(domain.map((n, d) => (d === last ? 1 : n)));
  const value = result(div(reduced, domain[last]));
  lowering.reduce({ op: 'sum', axes: [last], domain, element, result: value }, inputs, mean);
  return mean;
}

/** A zero that broadcasts to a value. */
function zeroOf(lowering: Lowering, { desc }: Value): Value {
  return lowering.constant(Tensor.zeros(desc.shape.map(() => 1)));
}

/** Mean (zero for RMSNorm) and 1/√(variance + ε) of each row. */
function statistics(lowering: Lowering, centred: boolean): { readonly mean: Value; readonly rate: Value } {
  const [src] = lowering.inputs;
  const e = numberOf(lowering.call.attributes, 'epsilon');
  const mean = centred ? meanOf(lowering, [src], input(0)) : zeroOf(lowering, src);
  const distance = sub(input(0), input(1));
  const rate = meanOf(lowering, [src, mean], mul(distance, distance), variance =>
    pow(add(variance, e), -0.5),
  );
  return { mean, rate };
}

interface NormDefinition {
  readonly kind: string;
  readonly summary: string;
  readonly centred: boolean;
  /** Inputs after src: what the result is multiplied by, and what is added. */
  readonly affine: Operation['inputs'];
  readonly attributes: Operation['attributes'];
}

function norm({ kind, summary, centred, affine, attributes }: NormDefinition): readonly Operation[] {
  return [
    {
      kind,
      summary,
      inputs: [port('src', 'T'), ...affine],
      outputs: [port('dst', 'T')],
      attributes,
      infer: ({ inputs: [{ shape }] }) => [shape],
      gradient: call => normGradient(kind, call),
      lower: lowering => {
        const [src, gamma, beta] = lowering.inputs;
        const { mean, rate } = statistics(lowering, centred);
        const normal = mul(sub(input(0), input(1)), input(2));
        const scaled = gamma ? mul(normal, input(3)) : normal;
        lowering.map(
          beta ? add(scaled, input(4)) : scaled,
          [src, mean, rate, ...(gamma ? [gamma] : []), ...(beta ? [beta] : [])],
          lowering.outputs[0],
        );
      },
    },
    {
      kind: `${kind}Backward`,
      summary: `The gradient by src of ${kind}, from src, the gradient by its result, and gamma. (Those by gamma and beta are sums.)`,
      inputs: [port('src', 'T'), port('diff_dst', 'T'), optionalPort('gamma', 'U', ['f32', 'bf16', 'f16'])],
      outputs: [port('diff_src', 'T')],
      attributes: epsilon,
      infer: ({ inputs: [{ shape }] }) => [shape],
      lower: lowering => lowerBackward(lowering, centred),
    },
  ];
}

/** dx = r·(dŷ − mean(dŷ) − x̂·mean(dŷ∘x̂)) with dŷ = dy∘γ; without the mean of dŷ where x is not centred. */
function lowerBackward(lowering: Lowering, centred: boolean): void {
  const [src, dy, gamma] = lowering.inputs;
  const { mean, rate } = statistics(lowering, centred);
  const inputs = [src, dy, mean, rate, ...(gamma ? [gamma] : [])];
  const slope = gamma ? mul(input(1), input(4)) : input(1);
  const normal = mul(sub(input(0), input(2)), input(3));
  const slopeMean = centred ? meanOf(lowering, inputs, slope) : zeroOf(lowering, src);
  const product = meanOf(lowering, inputs, mul(slope, normal));
  const n = inputs.length;
  const value = mul(input(3), sub(sub(slope, input(n)), mul(normal, input(n + 1))));
  lowering.map(value, [...inputs, slopeMean, product], lowering.outputs[0]);
}

function normGradient(
  kind: string,
  { builder, attributes, inputs, outputGradients: [dy] }: GradientCall,
): readonly (InputGradient | null)[] {
  if (!dy) return [];
  const [src, gamma, beta] = inputs;
  const x = (): LogicalTensor => builder.cast(builder.forward(src), dy.dtype);
  const options = { epsilon: attributes.epsilon };
  const bySrc = (): LogicalTensor =>
    builder.op(`${kind}Backward`, [x(), dy, ...(gamma ? [builder.forward(gamma)] : [])], options);
  const sum = (of: LogicalTensor, like: LogicalTensor): LogicalTensor =>
    builder.reduceTo(of, builder.shapeOf(src), builder.shapeOf(like));
  return [
    bySrc,
    gamma ? () => sum(builder.op('Multiply', [dy, builder.op(kind, [x()], attributes)]), gamma) : null,
    beta ? () => sum(dy, beta) : null,
  ];
}

const floats = ['f32', 'bf16', 'f16'] as const;
const lastAxis = ({ attributes, inputs: [{ shape }] }: OperationCall): string | null => {
  const axis = attributes.begin_norm_axis;
  return axis === -1 || (shape && axis === shape.length - 1)
    ? null
    : `normalises the last dimension alone, got begin_norm_axis ${axis}`;
};

/** Rows of the last dimension brought to one size. */
export const normOperations: readonly Operation[] = [
  ...norm({
    kind: 'LayerNorm',
    summary: '(x − mean) / √(variance + epsilon) over the last dimension, times gamma, plus beta.',
    centred: true,
    affine: [optionalPort('gamma', 'U', floats), optionalPort('beta', 'U', floats)],
    attributes: {
      ...epsilon,
      begin_norm_axis: { type: 's64', default: -1 },
      keep_stats: { type: 'bool', default: false, among: [false] },
    },
  }).map((operation, n) => (n === 0 ? { ...operation, constraint: lastAxis } : operation)),
  ...norm({
    kind: 'RMSNorm',
    summary: 'x / √(mean of x² + epsilon) over the last dimension, times gamma. Not an operation of oneDNN.',
    centred: false,
    affine: [optionalPort('gamma', 'U', floats)],
    attributes: epsilon,
  }),
];
