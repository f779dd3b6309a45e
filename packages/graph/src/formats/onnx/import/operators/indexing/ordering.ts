import { elementCount } from '@tilewise/core';
import { withExtent } from '../../../../../ir/tensor/shape.ts';
import { isFloat } from '../../draft.ts';
import { int64Type } from '../../file/element-type.ts';
import { type OnnxOperator, result } from '../../node-call.ts';
import { once } from '../../once.ts';
import { folded } from '../../value.ts';
import { integerSum } from '../reductions/integer-sums.ts';

/** The index of the first largest or smallest element along an axis. */
const argExtreme =
  (isLargest: boolean): OnnxOperator =>
  call => {
    const { shape, tensor } = call.input(0);
    const axis = call.axis(call.int('axis', 0), shape.length);
    const keeps = call.flag('keepdims', true);
    const last = call.flag('select_last_index', false);
    const extent = shape[axis];
    const { draft } = call;
    return result(
      { type: int64Type, shape: keeps ? withExtent(shape, axis, 1) : shape.filter((_, d) => d !== axis) },
      () => {
        const own = tensor();
        // Compares integers as f32, exact up to 2^24, because negating an unsigned integer loses the sign.
        const x = isFloat(own) ? own : draft.cast(own, 'f32');
        const signed = isLargest ? x : draft.op('Neg', [x]);
        if (!last) return draft.op('ArgMax', [signed], { axis, keep_dims: keeps }, 'i32');
        // The last of equal elements is the first one from the end.
        const reversed = draft.slice(signed, { axis, start: extent - 1, size: extent, step: -1 });
        const fromEnd = draft.op('ArgMax', [reversed], { axis, keep_dims: keeps }, 'i32');
        const end = draft.scalar(extent - 1, 'i32');
        return draft.op('Subtract', [end, fromEnd]);
      },
    );
  };

const topK: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const axis = call.axis(call.int('axis', -1), shape.length);
  const k = call.version < 10 ? call.int('k', 1) : (call.numbers(1)[0] ?? 1);
  const largest = call.flag('largest', true);
  const { draft } = call;
  const results = once(() => {
    const own = tensor();
    // Compares integers as f32, exact up to 2^24, because negating an unsigned integer loses the sign.
    const numbers = isFloat(own) ? own : draft.cast(own, 'f32');
    const x = largest ? numbers : draft.op('Neg', [numbers]);
    const slice = { axis, start: 0, size: 0 };
    if (k === 0)
      return { values: draft.slice(own, slice), indices: draft.cast(draft.slice(x, slice), 'i32') };
    const [values, indices] = draft.ops('TopK', [x], { axis, k }, [x.dtype, 'i32']);
    if (!isFloat(own)) return { values: draft.op('GatherElements', [own, indices], { axis }), indices };
    return { values: largest ? values : draft.op('Neg', [values]), indices };
  });
  const to = withExtent(shape, axis, k);
  return [
    result({ type, shape: to }, () => results().values),
    result({ type: int64Type, shape: to }, () => results().indices),
  ];
};

/** The maximum number of terms of cumulative sums that are computed while a model is read. */
const maxTerms = 2 ** 22;

const cumSum: OnnxOperator = call => {
  const value = call.input(0);
  const { type, shape } = value;
  const axis = call.axis(call.numbers(1)[0] ?? 0, shape.length);
  const extent = shape[axis];
  const exclusive = call.flag('exclusive', false);
  const reverse = call.flag('reverse', false);
  return {
    ...{ type, shape },
    fold:
      elementCount(shape) * extent > maxTerms
        ? null
        : folded([value], shape, read => index => {
            const own = index[axis];
            const [from, to] = reverse ? [own + Number(exclusive), extent] : [0, own + Number(!exclusive)];
            let sum = 0;
            for (let i = from; i < to; i++) sum += read(withExtent(index, axis, i));
            return sum;
          }),
    emit: () => {
      const x = value.tensor();
      const sum = (t: typeof x): typeof x => call.draft.op('CumSum', [t], { axis, exclusive, reverse });
      return x.dtype === 'i32' ? integerSum(call.draft, x, extent, sum) : sum(x);
    },
  };
};

/** Operators that depend on the order along an axis: the largest elements, and cumulative sums. */
export const orderingOperators: Readonly<Record<string, OnnxOperator>> = {
  ArgMax: argExtreme(true),
  ArgMin: argExtreme(false),
  CumSum: cumSum,
  TopK: topK,
};
