import type { LogicalTensor } from '../../src/ir/tensor/logical-tensor.ts';
import type { GraphBuilder } from '../attention/attention-graph.ts';
import { bounded, like, positive, type Step, whereTo, whole, withShape } from './random-known.ts';

const withExtent = (shape: readonly number[], axis: number, extent: number): number[] =>
  shape.map((n, d) => (d === axis ? extent : n));

const wholeInput = (g: GraphBuilder, shape: readonly number[]): LogicalTensor => whole(g, g.input(shape));

/** Steps with operations that published models use to choose, join and order elements. */
export const indexSteps: readonly Step[] = [
  (g, choose, x) =>
    withShape(x, g.op('Power', [positive(g, x.tensor), bounded(g, like(g, choose, x.shape))])),
  // Uses integers, so that two engines agree on which is larger.
  (g, choose, x) => {
    const kind = choose.of(['Greater', 'Less', 'LessEqual', 'Equal', 'NotEqual']);
    const compare = (): LogicalTensor => g.op(kind, [whole(g, x.tensor), wholeInput(g, x.shape)], {}, 'bool');
    const logic = choose.of(['LogicalAnd', 'LogicalOr', 'LogicalNot']);
    const operands = logic === 'LogicalNot' ? [compare()] : [compare(), compare()];
    const cond = choose.below(3) ? g.op(logic, operands, {}, 'bool') : compare();
    return withShape(x, g.op('Where', [cond, x.tensor, like(g, choose, x.shape)]));
  },
  (g, choose, { tensor, shape }) => {
    const axis = choose.below(shape.length);
    const size = 1 + choose.below(shape[axis]);
    const [start, step] = choose.below(2) ? [shape[axis] - size, 1] : [size - 1, -1];
    const to = withExtent(shape, axis, size);
    if (choose.below(2)) return { tensor: g.op('Slice', [tensor], { axis, start, size, step }), shape: to };
    const extent = shape[axis] + 1;
    return {
      tensor: g.op('SliceBackward', [tensor], { axis, start: 1, extent, step: 1 }),
      shape: withExtent(shape, axis, extent),
    };
  },
  (g, choose, { tensor, shape }) => {
    const [before, after] = [0, 1].map(() => shape.map(() => choose.below(2)));
    const to = shape.map((n, d) => n + before[d] + after[d]);
    return { tensor: g.op('Pad', [tensor], { before, after, value: 0.5 }), shape: to };
  },
  (g, choose, { tensor, shape }) => {
    const axis = choose.below(shape.length);
    const other = g.input(withExtent(shape, axis, 2));
    const joined = g.op('Concat', choose.below(2) ? [tensor, other] : [other, tensor], { axis });
    return { tensor: joined, shape: withExtent(shape, axis, shape[axis] + 2) };
  },
  (g, choose, { tensor, shape }) => {
    const axis = choose.below(shape.length);
    const wide = g.op('Concat', [tensor, tensor], { axis });
    const sizes = [shape[axis] + 1, shape[axis] - 1].filter(size => size > 0);
    const outputs = sizes.map(() => g.graph.tensor({ dtype: 'f32' }));
    const whole = sizes.length === 1 ? [2 * shape[axis]] : sizes;
    g.graph.add({ kind: 'Split', attrs: { axis, sizes: whole }, inputs: [wide], outputs });
    return { tensor: outputs[0], shape: withExtent(shape, axis, whole[0]) };
  },
  (g, _, { tensor, shape }) => {
    const to = [2, ...shape];
    const expanded = g.op('Expand', [tensor], { shape: to });
    return { tensor: g.op('ReduceSum', [expanded], { axes: [0], keep_dims: false }), shape };
  },
  (g, choose, { tensor, shape }) => {
    const axis = choose.below(shape.length);
    const count = 1 + choose.below(3);
    const taken = g.op('Take', [tensor, whereTo(g, choose, count, shape[axis])], { axis });
    return { tensor: taken, shape: withExtent(shape, axis, count) };
  },
  (g, choose, { tensor, shape }) => {
    const axis = choose.below(shape.length);
    const count = shape.reduce((n, extent) => n * extent, 1);
    const values = Array.from({ length: count }, () => choose.below(shape[axis]));
    const indices = g.input(shape, { dtype: 'i32', values });
    if (choose.below(2)) return { tensor: g.op('GatherElements', [tensor, indices], { axis }), shape };
    if (axis > 0 && choose.below(2)) {
      const update = g.input(withExtent(shape, axis, 1 + choose.below(shape[axis])));
      const first = g.input([shape[0]], { dtype: 'i32', values: values.slice(0, shape[0]) });
      return { tensor: g.op('TensorScatter', [tensor, update, first], { axis }), shape };
    }
    const scattered = g.op('ScatterElements', [tensor, indices, g.input(shape)], { axis, reduction: 'add' });
    return { tensor: scattered, shape };
  },
  (g, choose, x) => {
    const axis = choose.below(x.shape.length);
    const index = g.op('ArgMax', [whole(g, x.tensor)], { axis, keep_dims: true }, 'i32');
    return withShape(x, g.op('Add', [x.tensor, g.op('TypeCast', [index])]));
  },
  (g, choose, { tensor, shape }) => {
    const axis = choose.below(shape.length);
    const k = 1 + choose.below(Math.min(2, shape[axis]));
    const outputs = [g.graph.tensor({ dtype: 'f32' }), g.graph.tensor({ dtype: 'i32' })];
    g.graph.add({ kind: 'TopK', attrs: { axis, k }, inputs: [whole(g, tensor)], outputs });
    return { tensor: outputs[0], shape: withExtent(shape, axis, k) };
  },
  (g, choose, x) => {
    const attributes = {
      axis: choose.below(x.shape.length),
      exclusive: choose.below(2) > 0,
      reverse: choose.below(2) > 0,
    };
    return withShape(x, g.op('CumSum', [bounded(g, x.tensor)], attributes));
  },
  (g, choose, x) => {
    const D = x.shape[x.shape.length - 1];
    if (D < 2) return withShape(x, bounded(g, x.tensor));
    const table = [...x.shape.slice(-2, -1), Math.floor(D / 2)];
    const angles = [g.op('Cos', [g.input(table)]), g.op('Sin', [g.input(table)])];
    return withShape(x, g.op('RotaryEmbedding', [x.tensor, ...angles], { interleaved: choose.below(2) > 0 }));
  },
  (g, choose, { tensor, shape }) => {
    const width = shape[shape.length - 1];
    const rows = shape.slice(0, -1).reduce((n, extent) => n * extent, 1);
    const image = [1, rows, width];
    const geometry = { strides: [1], pads_begin: [1], pads_end: [1], dilations: [1] };
    const src = g.op('StaticReshape', [bounded(g, tensor)], { shape: image, special_zero: false });
    const weights = g.input([2, rows, 3]);
    const kind = choose.of(['Convolution', 'ConvolutionBackwardData', 'ConvolutionBackwardWeights']);
    if (kind === 'Convolution')
      return { tensor: g.op(kind, [src, weights, g.input([2])], geometry), shape: [1, 2, width] };
    if (kind === 'ConvolutionBackwardData')
      return {
        tensor: g.op(kind, [g.input([1, 2, width]), weights], { ...geometry, shape: image }),
        shape: image,
      };
    const gradient = g.op(kind, [src, g.input([1, 2, width])], { ...geometry, shape: [2, rows, 3] });
    return { tensor: gradient, shape: [2, rows, 3] };
  },
];
