import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import type { NodeCall, OnnxOperator } from '../../node-call.ts';
import { cast, isFloat, scalar, select } from '../emit.ts';

/** Integers between two bounds, by comparisons: the operations of bounds are for floats. */
function clippedInteger(
  { draft }: NodeCall,
  x: LogicalTensor,
  min: number | null,
  max: number | null,
): LogicalTensor {
  const bounded = (tensor: LogicalTensor, kind: 'Less' | 'Greater', bound: number | null): LogicalTensor => {
    if (bound === null) return tensor;
    const limit = scalar(draft, bound, 'i32');
    return select(draft, draft.op(kind, [tensor, limit], {}, 'bool'), limit, tensor);
  };
  return bounded(bounded(x, 'Less', min), 'Greater', max);
}

/** x between two bounds, each of which may be missing. */
export const clip: OnnxOperator = call => {
  const { version } = call;
  const bound = (n: number, name: string, standard: number): number => {
    if (version < 11) return call.float(name, standard);
    return call.has(n) ? (call.numbers(n)[0] ?? standard) : standard;
  };
  const [min, max] = [bound(1, 'min', Number.NEGATIVE_INFINITY), bound(2, 'max', Number.POSITIVE_INFINITY)];
  const { type, shape, host } = call.input(0);
  return {
    ...{ type, shape },
    fold:
      host && (() => ({ shape, values: Array.from(host().values, x => Math.min(max, Math.max(min, x))) })),
    emit: () => {
      const x = call.input(0).tensor();
      const [low, high] = [Number.isFinite(min), Number.isFinite(max)];
      if (!isFloat(x)) {
        const integers = cast(call.draft, x, 'i32');
        const clipped = clippedInteger(call, integers, low ? min : null, high ? max : null);
        return cast(call.draft, clipped, x.dtype);
      }
      if (low && high) return call.draft.op('Clamp', [x], { min, max });
      if (low) return call.draft.op('Maximum', [x, scalar(call.draft, min, x.dtype)]);
      return high ? call.draft.op('Minimum', [x, scalar(call.draft, max, x.dtype)]) : x;
    },
  };
};
