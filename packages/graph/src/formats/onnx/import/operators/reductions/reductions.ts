import { elementCount } from '@tilewise/core';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { keptShape, shapeOf } from '../../../../../ir/tensor/shape.ts';
import { type Draft, isFloat } from '../../draft.ts';
import { elementTypeOf, isInteger } from '../../file/element-type.ts';
import {
  type NodeCall,
  type NodeResult,
  type OnnxOperator,
  result,
  type SingleOperator,
} from '../../node-call.ts';
import { once } from '../../once.ts';
import { beforeReshape } from '../../reshapes/writer.ts';
import { hostTensor, reader } from '../../value.ts';
import { absolute } from '../elementwise/arithmetic.ts';
import { divideIntegers } from '../elementwise/divide-integers.ts';
import { integerExtreme, integerSum } from './integer-sums.ts';

type Join = (a: number, b: number) => number;

/** An operator that reduces all elements along axes to one. */
function reduction(
  kind: string,
  start: number,
  join: Join,
  finish = (x: number, _count: number): number => x,
): SingleOperator {
  return call => {
    const { type, shape, host, tensor } = call.input(0);
    const given = call.axes()?.map(axis => call.axis(axis, shape.length));
    // Each result is then the reduction of one element, which for a norm is the element's magnitude.
    const reducesNothing = !given?.length && call.flag('noop_with_empty_axes', false);
    const axes = given?.length || reducesNothing ? (given ?? []) : shape.map((_, d) => d);
    const keeps = call.flag('keepdims', true);
    const kept = keptShape(shape, axes);
    const to = keeps ? kept : shape.filter((_, d) => !axes.includes(d));
    const count = elementCount(axes.map(d => shape[d]));
    return {
      ...{ type, shape: to },
      fold:
        host &&
        (() => {
          const sums = new Map<string, number>();
          const place = (index: readonly number[]): string =>
            `${index.map((i, d) => (axes.includes(d) ? 0 : i))}`;
          const read = reader(host());
          hostTensor(shape, index => {
            const at = place(index);
            sums.set(at, join(sums.get(at) ?? start, read(index)));
            return 0;
          });
          const whole = isInteger(type) ? Math.trunc : (x: number) => x;
          const { values } = hostTensor(kept, index => whole(finish(sums.get(place(index)) ?? start, count)));
          return { shape: to, values };
        }),
      emit: () => {
        const { draft } = call;
        const own = tensor();
        const [x, along] =
          axes.length > 0 ? [own, axes] : [draft.reshape(own, [...shape, 1]), [shape.length]];
        const reduced = (t: LogicalTensor, by = kind): LogicalTensor =>
          draft.op(by, [t], { axes: along, keep_dims: true });
        const summed = (): LogicalTensor => integerSum(draft, x, count, t => reduced(t, 'ReduceSum'));
        if (isFloat(x))
          return axes.length > 0
            ? draft.op(kind, [x], { axes, keep_dims: keeps })
            : draft.reshape(reduced(x), to);
        const cast = draft.producerOf(beforeReshape(draft, x) ?? x);
        const [bools = x] = cast?.kind === 'TypeCast' ? cast.inputs : [];
        // The number of true elements is exact in f32.
        const exact =
          count && bools.dtype === 'bool'
            ? draft.cast(reduced(draft.cast(draft.reshape(bools, shapeOf(x)), 'f32')), x.dtype)
            : kind === 'ReduceSum'
              ? summed()
              : kind === 'ReduceMean'
                ? draft.cast(divideIntegers(draft, summed(), draft.scalar(count, 'i32')).quotient, x.dtype)
                : kind === 'ReduceMax' || kind === 'ReduceMin'
                  ? integerExtreme(draft, kind, x, reduced)
                  : reduced(x);
        return draft.reshape(exact, to);
      },
    };
  };
}

const sum = reduction('ReduceSum', 0, (a, b) => a + b);
const largest = reduction('ReduceMax', -Infinity, Math.max);

type Apply = (draft: Draft, x: LogicalTensor) => LogicalTensor;

/** A reduction of a function of the elements, followed by a function of the result. */
function composed(of: SingleOperator, before: Apply, after: Apply = (_, x) => x): OnnxOperator {
  return call => {
    const { draft } = call;
    const value = call.input(0);
    const inner = call.withInput(0, { ...value, host: null, tensor: () => before(draft, value.tensor()) });
    const { emit, ...made } = of(inner);
    return result(made, () => {
      const reduced = after(draft, emit?.() ?? call.refuse('has no result'));
      return draft.cast(reduced, value.type.dtype);
    });
  };
}

/** x²; for integers in 32 bits, because the graph's Square accepts only floats. */
const square: Apply = (draft, x) => {
  if (isFloat(x)) return draft.op('Square', [x]);
  const own = draft.cast(x, 'i32');
  return draft.op('Multiply', [own, own]);
};

const floatMagnitudes = reduction('ReduceL1', 0, (a, b) => a + Math.abs(b));
const integerMagnitudes = composed(sum, (draft, x) => absolute(draft, draft.cast(x, 'i32')));

/** max + ln Σ e^(x − max), with an infinite maximum replaced by a finite one. */
const logSumExp: OnnxOperator = given => {
  const { draft } = given;
  const own = given.input(0);
  const value = { ...own, host: null, tensor: () => draft.cast(own.tensor(), 'f32') };
  const call = given.withInput(0, value);
  const most = largest(call);
  const kept = largest(call.withFlag('keepdims', true));
  const peak = once(() => {
    const x = kept.emit?.() ?? call.refuse('has no maximum');
    return draft.op('Clamp', [x], { min: -3.4e38, max: 3.4e38 });
  });
  const distance = (): LogicalTensor => draft.op('Exp', [draft.op('Subtract', [value.tensor(), peak()])]);
  const total = sum(call.withInput(0, { ...value, host: null, tensor: distance }));
  return result(most, () => {
    const logarithm = draft.op('Log', [total.emit?.() ?? call.refuse('has no sum')]);
    const sum = draft.op('Add', [logarithm, draft.reshape(peak(), most.shape)]);
    return draft.cast(sum, own.type.dtype);
  });
};

/** Softmax; before version 13 over all dimensions from the axis on. */
function softmax(kind: 'SoftMax' | 'LogSoftmax'): OnnxOperator {
  return call => {
    const { type, shape, tensor } = call.input(0);
    const axis = call.axis(call.int('axis', call.version < 13 ? 1 : -1), Math.max(1, shape.length));
    return result({ type, shape }, () => {
      const { draft } = call;
      if (call.version >= 13 || axis === shape.length - 1) return draft.op(kind, [tensor()], { axis });
      const rows = [shape.slice(0, axis), shape.slice(axis)].map(elementCount);
      const flat = draft.op(kind, [draft.reshape(tensor(), rows)], { axis: 1 });
      return draft.reshape(flat, shape);
    });
  };
}

/** The shape of the statistics of rows that consist of the dimensions from the axis on. */
const withOnes = (shape: readonly number[], axis: number): number[] =>
  shape.map((extent, d) => (d < axis ? extent : 1));

/** LayerNormalization, with its mean and 1/√(variance + ε) if the model has these outputs. */
export function layerNorm(
  call: NodeCall,
  x: LogicalTensor,
  given: { gamma: LogicalTensor | null; beta: LogicalTensor | null; axis: number; epsilon: number },
): { y: LogicalTensor; mean: () => LogicalTensor; rate: () => LogicalTensor } {
  const { draft } = call;
  const { gamma, beta, axis, epsilon } = given;
  const attributes = { begin_norm_axis: axis, epsilon };
  const y = draft.op('LayerNorm', gamma ? [x, gamma, ...(beta ? [beta] : [])] : [x], attributes);
  const statistics = () => {
    const dtypes = [x.dtype, 'f32', 'f32'] as const;
    const [, mean, variance] = draft.ops('LayerNorm', [x], { ...attributes, keep_stats: true }, dtypes);
    return { mean, variance };
  };
  const shape = withOnes(x.shape ?? [], axis);
  return {
    y,
    mean: () => draft.reshape(statistics().mean, shape),
    rate: () => {
      const { variance } = statistics();
      const sum = draft.op('Add', [variance, draft.scalar(epsilon, 'f32')]);
      return draft.reshape(draft.op('Pow', [sum], { beta: -0.5 }), shape);
    },
  };
}

const layerNormalization: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const axis = call.axis(call.int('axis', -1), shape.length);
  const epsilon = call.float('epsilon', 1e-5);
  const made = () =>
    layerNorm(call, tensor(), {
      gamma: call.optional(1)?.tensor() ?? null,
      beta: call.optional(2)?.tensor() ?? null,
      axis,
      epsilon,
    });
  const stash = elementTypeOf(call.int('stash_type', 1)) ?? call.refuse("has a 'stash_type' without numbers");
  const statistic = (kind: 'mean' | 'rate'): NodeResult =>
    result({ type: stash, shape: withOnes(shape, axis) }, () => call.draft.cast(made()[kind](), stash.dtype));
  return [result({ type, shape }, () => made().y), statistic('mean'), statistic('rate')];
};

/** x divided by the root of the mean of its squares, times a weight. */
export const rmsNormalization: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const axis = call.axis(call.int('axis', -1), shape.length);
  const attributes = { begin_norm_axis: axis, epsilon: call.float('epsilon', 1e-5) };
  return result({ type, shape }, () =>
    call.draft.op('RMSNorm', [tensor(), call.input(1).tensor()], attributes),
  );
};

/** Operators that combine elements along axes: sums, softmax, norms. */
export const reductionOperators: Readonly<Record<string, OnnxOperator>> = {
  LayerNormalization: layerNormalization,
  LogSoftmax: softmax('LogSoftmax'),
  ReduceL1: call => (isInteger(call.input(0).type) ? integerMagnitudes(call) : floatMagnitudes(call)),
  ReduceL2: reduction('ReduceL2', 0, (a, b) => a + b * b, Math.sqrt),
  ReduceLogSum: composed(
    sum,
    (_, x) => x,
    (draft, x) => draft.op('Log', [x]),
  ),
  ReduceLogSumExp: logSumExp,
  ReduceMax: largest,
  ReduceMean: reduction(
    'ReduceMean',
    0,
    (a, b) => a + b,
    (x, count) => x / count,
  ),
  ReduceMin: reduction('ReduceMin', Infinity, Math.min),
  ReduceProd: reduction('ReduceProd', 1, (a, b) => a * b),
  ReduceSum: sum,
  ReduceSumSquare: composed(sum, square),
  RMSNormalization: rmsNormalization,
  SimplifiedLayerNormalization: rmsNormalization,
  Softmax: softmax('SoftMax'),
};
