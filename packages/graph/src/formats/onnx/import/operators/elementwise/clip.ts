import type { DType } from '@tilewise/core';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { isFloat } from '../../draft.ts';
import { int32Type, integerRange } from '../../file/element-type.ts';
import { type NodeCall, type NodeResult, type OnnxOperator, result } from '../../node-call.ts';

/** Clips integers to two bounds by comparisons, because the graph's Clamp accepts only floats. */
function clippedInteger(call: NodeCall, x: LogicalTensor, min: number, max: number): LogicalTensor {
  const { draft } = call;
  const given = call.input(0).type;
  const type = given.dtype === 'u32' ? given : int32Type;
  const { min: least, max: most } = integerRange(type);
  const bounded = (tensor: LogicalTensor, kind: 'Less' | 'Greater', bound: number): LogicalTensor => {
    const limit = call.constant({ shape: [], values: [bound] }, type);
    return draft.select(draft.test(kind, tensor, limit), limit, tensor);
  };
  const own = draft.cast(x, type.dtype);
  const raised = min > least ? bounded(own, 'Less', Math.min(min, most)) : own;
  const lowered = max < most ? bounded(raised, 'Greater', Math.max(max, least)) : raised;
  return draft.cast(lowered, x.dtype);
}

/** Clips floats to bounds that only running the graph computes. */
function clippedByTensors(call: NodeCall): NodeResult {
  const { draft } = call;
  const x = call.input(0);
  return result(x, () =>
    ['Maximum', 'Minimum'].reduce((tensor, kind, n) => {
      const bound = call.optional(n + 1)?.tensor();
      return bound ? draft.op(kind, [tensor, draft.cast(bound, tensor.dtype)]) : tensor;
    }, x.tensor()),
  );
}

/** The largest finite number of each float type. */
const largest: Readonly<Partial<Record<DType, number>>> = {
  ...{ f32: (2 - 2 ** -23) * 2 ** 127, f16: 65504, bf16: (2 - 2 ** -7) * 2 ** 127 },
};

/** Clips x to two bounds. A bound that is not given is the largest or the smallest finite number. */
export const clip: OnnxOperator = call => {
  const { version } = call;
  const computed = version >= 11 && [1, 2].some(n => call.optional(n)?.host === null);
  if (computed && call.input(0).type.kind === 'float') return clippedByTensors(call);
  const bound = (n: number, name: string, standard: number): number => {
    if (version < 11) return call.float(name, standard);
    return call.has(n) ? (call.numbers(n)[0] ?? standard) : standard;
  };
  const { type, shape, host } = call.input(0);
  const most = largest[type.dtype] ?? Infinity;
  const [min, max] = [bound(1, 'min', -most), bound(2, 'max', most)];
  return {
    ...{ type, shape },
    fold:
      host && (() => ({ shape, values: Array.from(host().values, x => Math.min(max, Math.max(min, x))) })),
    emit: () => {
      const x = call.input(0).tensor();
      const [low, high] = [Number.isFinite(min), Number.isFinite(max)];
      if (!isFloat(x)) return clippedInteger(call, x, min, max);
      if (low && high) return call.draft.op('Clamp', [x], { min, max });
      if (low) return call.draft.op('Maximum', [x, call.draft.scalar(min, x.dtype)]);
      return high ? call.draft.op('Minimum', [x, call.draft.scalar(max, x.dtype)]) : x;
    },
  };
};
