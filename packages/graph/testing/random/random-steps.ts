import type { Attributes } from '../../src/ir/schema/attribute.ts';
import type { LogicalTensor } from '../../src/ir/tensor/logical-tensor.ts';
import type { GraphBuilder } from '../attention/attention-graph.ts';
import type { Choices } from './choices.ts';
import { indexSteps } from './random-index-steps.ts';
import { bounded, type Known, like, positive, type Step, whereTo, whole, withShape } from './random-known.ts';

const bits = (g: GraphBuilder, choose: Choices, shape: readonly number[]): LogicalTensor => {
  const extents = shape.slice(choose.below(shape.length)).map(n => (choose.below(3) ? n : 1));
  const values = Array.from({ length: extents.reduce((n, x) => n * x, 1) }, () => choose.below(2));
  return g.input(extents, { dtype: 'bool', values });
};
const stream = (g: GraphBuilder, choose: Choices): LogicalTensor[] => [
  g.scalar(BigInt(choose.below(1000)), 'i64'),
  g.scalar(1n, 'i64'),
];

const functions: Readonly<Record<string, Attributes>> = {
  ...Object.fromEntries(
    'Abs Cos Erf Exp GELU HardSwish Mish Neg ReLU Round SiLU Sigmoid Sin SoftPlus Square Tanh'
      .split(' ')
      .map(kind => [kind, {}]),
  ),
  Clamp: { min: -0.5, max: 0.25 },
  Elu: { alpha: 0.5 },
  HardSigmoid: { alpha: 0.3, beta: 0.4 },
  LeakyReLU: { alpha: 0.1 },
};
const ofPositive: Readonly<Record<string, Attributes>> = {
  ...{ Log: {}, Sqrt: {}, Reciprocal: {} },
  Pow: { beta: 1.5 },
};

/** The n-th function of one tensor, or its gradient. */
export function functionStep(g: GraphBuilder, n: number, x: Known): Known {
  const all = [
    ...Object.entries(functions).map(([kind, attributes]) => ({ kind, attributes, domain: bounded })),
    ...Object.entries(ofPositive).map(([kind, attributes]) => ({ kind, attributes, domain: positive })),
  ];
  const { kind, attributes, domain } = all[Math.floor(n / 2) % all.length];
  const at = domain(g, x.tensor);
  const isGradient = n % 2 === 1;
  return withShape(
    x,
    isGradient ? g.op(`${kind}Backward`, [at, g.input(x.shape)], attributes) : g.op(kind, [at], attributes),
  );
}

const kept = (shape: readonly number[], axis: number): number[] => shape.map((n, d) => (d === axis ? 1 : n));

const steps: readonly Step[] = [
  (g, choose, x) => functionStep(g, choose.below(100), x),
  (g, choose, x) => {
    const kind = choose.of(['Add', 'Subtract', 'Multiply', 'Maximum', 'Minimum', 'SquaredDifference']);
    const [a, b] = [bounded(g, x.tensor), like(g, choose, x.shape)];
    return withShape(x, g.op(kind, choose.below(2) ? [a, b] : [b, a]));
  },
  (g, choose, x) => {
    if (choose.below(2))
      return withShape(x, g.op('Divide', [x.tensor, positive(g, like(g, choose, x.shape))]));
    const kind = choose.of(['MaximumBackward', 'MinimumBackward']);
    return withShape(x, g.op(kind, [x.tensor, like(g, choose, x.shape), g.input(x.shape)]));
  },
  (g, choose, x) => {
    const order = x.shape.map((_, d) => d).sort(() => choose.below(3) - 1);
    const tensor = g.op('StaticTranspose', [x.tensor], { order });
    return {
      tensor: choose.below(2) ? g.op('Reorder', [tensor]) : tensor,
      shape: order.map(d => x.shape[d]),
    };
  },
  (g, _, { tensor, shape }) => {
    const [a, b, ...rest] = shape;
    const to = rest.length > 0 ? [a * b, ...rest] : [a, 1, b];
    return { tensor: g.op('StaticReshape', [tensor], { shape: to, special_zero: false }), shape: to };
  },
  (g, choose, { tensor, shape }) => {
    const axis = choose.below(shape.length);
    const kind = choose.of(['Sum', 'Max', 'Min', 'Mean', 'Prod', 'L1', 'L2'].map(name => `Reduce${name}`));
    const to = kept(shape, axis);
    return { tensor: g.op(kind, [tensor], { axes: [axis - shape.length], keep_dims: true }), shape: to };
  },
  (g, choose, x) => {
    const axis = choose.below(x.shape.length);
    const kind = choose.of(['ReduceMax', 'ReduceMin', 'ReduceProd', 'ReduceL2']);
    const src = bounded(g, x.tensor);
    const dst = g.op(kind, [src], { axes: [axis], keep_dims: true });
    const dy = g.input(kept(x.shape, axis));
    return withShape(x, g.op(`${kind}Backward`, [src, dst, dy], { axes: [axis] }));
  },
  (g, choose, x) => {
    const axis = choose.below(x.shape.length);
    const kind = choose.of(['SoftMax', 'LogSoftmax']);
    const attributes: Attributes = kind === 'SoftMax' ? { axis, mode: 'inf_as_zero' } : { axis };
    const y = g.op(kind, [x.tensor], attributes);
    return withShape(x, choose.below(2) ? y : g.op(`${kind}Backward`, [g.input(x.shape), y], { axis }));
  },
  (g, choose, { tensor, shape }) => {
    const [rows, columns] = shape.slice(-2);
    const isTurned = choose.below(2) === 0;
    const weights = g.input(isTurned ? [rows + 1, columns] : [columns, rows + 1]);
    const bias = choose.below(2) ? [g.input([rows + 1])] : [];
    const product = g.op('MatMul', [tensor, weights, ...bias], { transpose_b: isTurned });
    return { tensor: product, shape: [...shape.slice(0, -1), rows + 1] };
  },
  (g, choose, x) => {
    const data_format = choose.of(['NXC', 'NCX']);
    const bias = g.input([x.shape[data_format === 'NCX' ? 1 : x.shape.length - 1]]);
    return withShape(x, g.op('BiasAdd', [x.tensor, bias], { data_format }));
  },
  (g, choose, x) => {
    const kind = choose.of(['LayerNorm', 'RMSNorm']);
    const begin = choose.below(x.shape.length);
    const attributes = { epsilon: 0.1, begin_norm_axis: begin - x.shape.length };
    const gamma = g.input(x.shape.slice(begin));
    if (choose.below(3) === 0) {
      return withShape(x, g.op(`${kind}Backward`, [x.tensor, g.input(x.shape), gamma], attributes));
    }
    if (kind === 'RMSNorm' || choose.below(2)) {
      return withShape(x, g.op(kind, [x.tensor, ...(choose.below(2) ? [gamma] : [])], attributes));
    }
    const outputs = [0, 1, 2].map(() => g.graph.tensor({ dtype: 'f32' }));
    const attrs = { ...attributes, keep_stats: true };
    g.graph.add({ kind: 'LayerNorm', attrs, inputs: [x.tensor, gamma, g.input(x.shape.slice(-1))], outputs });
    return withShape(x, outputs[0]);
  },
  (g, choose, x) => {
    const [cond, fill] = [bits(g, choose, x.shape), g.scalar(choose.below(3) - 1)];
    if (choose.below(3) === 0)
      return withShape(x, g.op('Mask', [x.tensor, cond], { invert: choose.below(2) > 0 }));
    return withShape(x, g.op('Select', choose.below(2) ? [cond, x.tensor, fill] : [cond, fill, x.tensor]));
  },
  (g, choose, x) => {
    const index = (axis: number) => g.op('GenIndex', [x.tensor], { axis }, 'i32');
    const moved = g.op(choose.of(['Add', 'Subtract']), [index(-2), g.scalar(1, 'i32')], {}, 'i32');
    const cond = g.op('GreaterEqual', [moved, index(-1)], {}, 'bool');
    return withShape(x, g.op('Select', [cond, x.tensor, g.op('Constant', [], { value: [-2] })]));
  },
  (g, choose, { tensor, shape: [rows, ...rest] }) => {
    const count = 1 + choose.below(3);
    if (choose.below(2)) {
      return { tensor: g.op('Gather', [tensor, whereTo(g, choose, count, rows)]), shape: [count, ...rest] };
    }
    const indices = whereTo(g, choose, rows, count);
    return { tensor: g.op('GatherBackward', [tensor, indices], { rows: count }), shape: [count, ...rest] };
  },
  (g, choose, x) => {
    const classes = x.shape[x.shape.length - 1];
    const lead = x.shape.slice(0, -1);
    const count = lead.reduce((n, extent) => n * extent, 1);
    const labels = g.input(lead, {
      dtype: 'i32',
      values: Array.from({ length: count }, () => choose.below(classes)),
    });
    if (choose.below(2)) {
      return withShape(x, g.op('CrossEntropyBackward', [x.tensor, labels, g.input(lead)]));
    }
    const shape = [...lead, 1];
    const loss = g.op('CrossEntropy', [x.tensor, labels]);
    return { tensor: g.op('StaticReshape', [loss], { shape, special_zero: false }), shape };
  },
  (g, choose, x) => {
    const one = g.input(x.shape.map(n => (choose.below(2) ? n : 1)));
    return withShape(x, g.op('Add', [x.tensor, g.op('BroadcastLike', [one, x.tensor], { divisor: 2 })]));
  },
  (g, choose, x) =>
    withShape(x, g.op('TypeCast', [g.op('TypeCast', [whole(g, x.tensor)], {}, choose.of(['bf16', 'f16']))])),
  (g, choose, x) => {
    const attributes: Attributes = choose.below(2)
      ? { scales: [0.5], zps: [3] }
      : { scales: Array.from({ length: x.shape[1] }, (_, n) => 1 + n), qtype: 'per_channel', axis: 1 };
    const codes = g.op('Quantize', [whole(g, x.tensor)], attributes, choose.of(['i8', 'u8']));
    return withShape(x, g.op('Dequantize', [codes], attributes));
  },
  (g, choose, x) => {
    const scales = g.input([1], { values: [choose.of([0.5, 1])] });
    const zero = g.input([1], { dtype: 'i32', values: [choose.below(5)] });
    const codes = g.op('DynamicQuantize', [whole(g, x.tensor), scales, zero], {}, 'u8');
    return withShape(x, g.op('DynamicDequantize', [codes, scales, zero]));
  },
  (g, choose, x) => {
    if (choose.below(2)) {
      const keep = g.op('RNG', [x.tensor, ...stream(g, choose)], { p: 0.25 });
      return withShape(x, g.op('Multiply', [x.tensor, keep]));
    }
    const outputs = [g.graph.tensor({ dtype: 'f32' }), g.graph.tensor({ dtype: 'u8' })];
    g.graph.add({ kind: 'Dropout', attrs: { p: 0.5 }, inputs: [x.tensor, ...stream(g, choose)], outputs });
    return withShape(x, outputs[0]);
  },
  (g, _, x) => {
    g.graph.op('End', { inputs: [x.tensor], outputs: [] });
    return withShape(x, bounded(g, x.tensor));
  },
  ...indexSteps,
];

/** Applies a random step to a tensor. */
export function randomStep(g: GraphBuilder, choose: Choices, from: Known): Known {
  return choose.of(steps)(g, choose, from);
}
