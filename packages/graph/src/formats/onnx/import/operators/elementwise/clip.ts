import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { isFloat } from '../../draft.ts';
import type { OnnxOperator } from '../../node-call.ts';

/** x between two bounds, each of which may be missing. */
export const clip: OnnxOperator = call => {
  const { draft, version } = call;
  const given = (n: number, name: string, standard: number): number => {
    if (version < 11) return call.float(name, standard);
    return call.has(n) ? (call.numbers(n)[0] ?? standard) : standard;
  };
  const [min, max] = [given(1, 'min', Number.NEGATIVE_INFINITY), given(2, 'max', Number.POSITIVE_INFINITY)];
  const { type, shape, host, tensor } = call.input(0);
  /** Operations of bounds are for floats; integers are compared. */
  const bounded = (x: LogicalTensor, kind: string, beyond: string, bound: number): LogicalTensor => {
    if (!Number.isFinite(bound)) return x;
    const limit = draft.scalar(bound, x.dtype);
    return isFloat(x) ? draft.op(kind, [x, limit]) : draft.select(draft.test(beyond, x, limit), limit, x);
  };
  return {
    ...{ type, shape },
    fold:
      host && (() => ({ shape, values: Array.from(host().values, x => Math.min(max, Math.max(min, x))) })),
    emit: () => {
      const own = tensor();
      if (isFloat(own) && Number.isFinite(max - min)) return draft.op('Clamp', [own], { min, max });
      const x = isFloat(own) ? own : draft.cast(own, 'i32');
      const clipped = bounded(bounded(x, 'Maximum', 'Less', min), 'Minimum', 'Greater', max);
      return draft.cast(clipped, own.dtype);
    },
  };
};
