import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { floatType } from '../../file/element-type.ts';
import type { NodeCall, NodeResult, OnnxOperator } from '../../node-call.ts';
import { once } from '../../once.ts';
import { hostTensor, reader } from '../../value.ts';
import { cast, reshape, scalar } from '../emit.ts';
import { integerExtreme, integerSum } from './integer-sums.ts';

type Join = (a: number, b: number) => number;

/** An operator that joins all elements along axes to one. */
function reduction(
  kind: string,
  start: number,
  join: Join,
  finish = (x: number, _count: number): number => x,
): OnnxOperator {
  return call => {
    const { type, shape, host, tensor } = call.input(0);
    const given = call.axes(1)?.map(axis => call.axis(axis, shape.length));
    if ((!given || given.length === 0) && call.flag('noop_with_empty_axes', false))
      return [{ type, shape, emit: tensor }];
    const axes = given && given.length > 0 ? given : shape.map((_, d) => d);
    const keeps = call.flag('keepdims', true);
    const kept = shape.map((extent, d) => (axes.includes(d) ? 1 : extent));
    const to = keeps ? kept : shape.filter((_, d) => !axes.includes(d));
    const count = axes.reduce((n, d) => n * (shape[d] ?? 1), 1);
    return [
      {
        ...{ type, shape: to },
        ...(host && {
          fold: () => {
            const sums = new Map<string, number>();
            const place = (index: readonly number[]): string =>
              `${index.map((i, d) => (axes.includes(d) ? 0 : i))}`;
            const read = reader(host(), shape);
            hostTensor(shape, index => {
              const at = place(index);
              sums.set(at, join(sums.get(at) ?? start, read(index)));
              return 0;
            });
            const { values } = hostTensor(kept, index => finish(sums.get(place(index)) ?? start, count));
            return { shape: to, values };
          },
        }),
        emit: () => {
          const { draft } = call;
          const own = tensor();
          const [x, along] = axes.length > 0 ? [own, axes] : [reshape(draft, own, [1]), [0]];
          const joined = (t: LogicalTensor): LogicalTensor =>
            draft.op(kind, [t], { axes: along, keep_dims: true });
          if (isFloat(x))
            return axes.length > 0
              ? draft.op(kind, [x], { axes, keep_dims: keeps })
              : reshape(draft, joined(x), to);
          if (kind === 'ReduceSum') return reshape(draft, integerSum(draft, x, count, joined), to);
          if (kind === 'ReduceMax' || kind === 'ReduceMin')
            return reshape(draft, integerExtreme(draft, kind, x, joined), to);
          return reshape(draft, cast(draft, joined(cast(draft, x, 'f32')), x.dtype), to);
        },
      },
    ];
  };
}

const isFloat = ({ dtype }: LogicalTensor): boolean => ['f32', 'f16', 'bf16'].includes(dtype);

const sum = reduction('ReduceSum', 0, (a, b) => a + b);

/** A reduction of a function of the elements, and a function of what comes out. */
function composed(of: OnnxOperator, before: string | null, after: string | null): OnnxOperator {
  return call => {
    const { draft } = call;
    const value = call.input(0);
    const float = (x: LogicalTensor): LogicalTensor => (isFloat(x) ? x : cast(draft, x, 'f32'));
    const apply = (kind: string | null, x: LogicalTensor): LogicalTensor =>
      kind === null ? x : cast(draft, draft.op(kind, [float(x)]), x.dtype);
    const inner = call.withInput(0, { ...value, host: null, tensor: () => apply(before, value.tensor()) });
    return of(inner).map(({ emit, type, shape }) => ({
      ...{ type, shape },
      emit: () => apply(after, emit?.() ?? call.refuse('has no result')),
    }));
  };
}

/** max + ln Σ e^(x − max), the maximum being finite. */
const logSumExp: OnnxOperator = call => {
  const { draft } = call;
  const value = call.input(0);
  const [most] = reduction('ReduceMax', 0, Math.max)(call);
  const kept = call.withFlag('keepdims', true);
  const peak = once(() => {
    const x = reduction('ReduceMax', 0, Math.max)(kept)[0]?.emit?.() ?? call.refuse('has no maximum');
    return draft.op('Clamp', [x], { min: -3.4e38, max: 3.4e38 });
  });
  const distance = (): LogicalTensor => draft.op('Exp', [draft.op('Subtract', [value.tensor(), peak()])]);
  const sum = reduction(
    'ReduceSum',
    0,
    (a, b) => a + b,
  )(call.withInput(0, { ...value, host: null, tensor: distance }))[0];
  if (!most || !sum) return call.refuse('has no result');
  return [
    {
      ...{ type: most.type, shape: most.shape },
      emit: () => {
        const logarithm = draft.op('Log', [sum.emit?.() ?? call.refuse('has no sum')]);
        return draft.op('Add', [logarithm, reshape(draft, peak(), most.shape)]);
      },
    },
  ];
};

/** Softmax; before version 13 over all dimensions from the axis on. */
function softmax(kind: 'SoftMax' | 'LogSoftmax'): OnnxOperator {
  return call => {
    const { type, shape, tensor } = call.input(0);
    const axis = call.axis(call.int('axis', call.version < 13 ? 1 : -1), Math.max(1, shape.length));
    const attributes = (axis: number) => ({ axis });
    return [
      {
        ...{ type, shape },
        emit: () => {
          const { draft } = call;
          if (call.version >= 13 || axis === shape.length - 1)
            return draft.op(kind, [tensor()], attributes(axis));
          const rows = shape.slice(0, axis).reduce((n, extent) => n * extent, 1);
          const row = shape.slice(axis).reduce((n, extent) => n * extent, 1);
          const flat = draft.op(kind, [reshape(draft, tensor(), [rows, row])], attributes(1));
          return reshape(draft, flat, shape);
        },
      },
    ];
  };
}

/** LayerNormalization, with its mean and 1/√(variance + ε) where the model asks for them. */
export function layerNorm(
  call: NodeCall,
  x: LogicalTensor,
  {
    gamma,
    beta,
    axis,
    epsilon,
  }: { gamma: LogicalTensor | null; beta: LogicalTensor | null; axis: number; epsilon: number },
): { y: LogicalTensor; mean: () => LogicalTensor; rate: () => LogicalTensor } {
  const { draft } = call;
  const attributes = { begin_norm_axis: axis, epsilon };
  const y = draft.op('LayerNorm', gamma ? [x, gamma, ...(beta ? [beta] : [])] : [x], attributes);
  const rows = (shape: readonly number[]): number[] => shape.map((extent, d) => (d < axis ? extent : 1));
  const statistics = () => {
    const [, mean = x, variance = x] = draft.ops('LayerNorm', [x], { ...attributes, keep_stats: true }, [
      x.dtype,
      'f32',
      'f32',
    ]);
    return { mean, variance };
  };
  const shape = rows(x.shape ?? []);
  return {
    y,
    mean: () => reshape(draft, statistics().mean, shape),
    rate: () => {
      const { variance } = statistics();
      const sum = draft.op('Add', [variance, scalar(draft, epsilon, 'f32')]);
      return reshape(draft, draft.op('Pow', [sum], { beta: -0.5 }), shape);
    },
  };
}

const layerNormalization: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const axis = call.axis(call.int('axis', -1), shape.length);
  const epsilon = call.float('epsilon', 1e-5);
  const statistics = shape.map((extent, d) => (d < axis ? extent : 1));
  const made = () =>
    layerNorm(call, tensor(), {
      gamma: call.optional(1)?.tensor() ?? null,
      beta: call.optional(2)?.tensor() ?? null,
      axis,
      epsilon,
    });
  const results: NodeResult[] = [
    { type, shape, emit: () => made().y },
    { type: floatType, shape: statistics, emit: () => made().mean() },
    { type: floatType, shape: statistics, emit: () => made().rate() },
  ];
  return results;
};

const rmsNormalization: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const axis = call.axis(call.int('axis', -1), shape.length);
  const attributes = { begin_norm_axis: axis, epsilon: call.float('epsilon', 1e-5) };
  return [
    { type, shape, emit: () => call.draft.op('RMSNorm', [tensor(), call.input(1).tensor()], attributes) },
  ];
};

/** Operators that join elements along axes: sums, softmax, norms. */
export const reductionOperators: Readonly<Record<string, OnnxOperator>> = {
  LayerNormalization: layerNormalization,
  LogSoftmax: softmax('LogSoftmax'),
  ReduceL1: reduction('ReduceL1', 0, (a, b) => a + Math.abs(b)),
  ReduceL2: reduction('ReduceL2', 0, (a, b) => a + b * b, Math.sqrt),
  ReduceLogSum: composed(sum, null, 'Log'),
  ReduceLogSumExp: logSumExp,
  ReduceMax: reduction('ReduceMax', Number.NEGATIVE_INFINITY, Math.max),
  ReduceMean: reduction(
    'ReduceMean',
    0,
    (a, b) => a + b,
    (x, count) => x / count,
  ),
  ReduceMin: reduction('ReduceMin', Number.POSITIVE_INFINITY, Math.min),
  ReduceProd: reduction('ReduceProd', 1, (a, b) => a * b),
  ReduceSum: sum,
  ReduceSumSquare: composed(sum, 'Square', null),
  RMSNormalization: rmsNormalization,
  SimplifiedLayerNormalization: rmsNormalization,
  Softmax: softmax('SoftMax'),
};
