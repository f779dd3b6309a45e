import { elementCount } from '@tilewise/core';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { isFloat } from '../../draft.ts';
import { boolType, type ElementType, int64Type } from '../../file/element-type.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { hostTensor, staticNumbers } from '../../value.ts';
import { wrapping } from '../elementwise/wrapping.ts';
import { checkedIndices, fromStart, rowsOf, staticRows } from './indices.ts';

const scatterElements: OnnxOperator = call => {
  const [{ type, shape, tensor }, at, updates] = [call.input(0), call.input(1), call.input(2)];
  const axis = call.axis(call.int('axis', 0), shape.length);
  const extent = shape[axis];
  const reduction = call.text('reduction', 'none');
  checkedIndices(call, extent);
  const { draft } = call;
  return result({ type, shape }, () => {
    if (isDirect(type, reduction)) {
      const operands = [tensor(), fromStart(call, at, extent), updates.tensor()];
      return draft.op('ScatterElements', operands, { axis, reduction });
    }
    const indices = call.numbers(1);
    const steps = shape.map((_, d) => elementCount(shape.slice(d + 1)));
    let n = 0;
    const { values: rows } = hostTensor(at.shape, index => {
      const i = indices[n++] ?? 0;
      const place = index.map((own, d) => (d === axis ? (i < 0 ? i + extent : i) : own));
      return place.reduce((row, own, d) => row + own * steps[d], 0);
    });
    const flat = draft.reshape(tensor(), [elementCount(shape), 1]);
    const parts = draft.reshape(updates.tensor(), [elementCount(at.shape), 1]);
    return draft.reshape(scatteredRows(call, flat, Array.from(rows), parts, reduction), shape);
  });
};

/**
 * Whether the graph has an operation for this scatter with indices that are known only when the graph runs.
 */
const isDirect = (type: ElementType, reduction: string): boolean =>
  isFloat(type) && ['none', 'add'].includes(reduction);

/** Writes updates into a tensor, at indices of its first dimensions. */
const scatterND: OnnxOperator = call => {
  const [data, at, updates] = [call.input(0), call.input(1), call.input(2)];
  const reduction = call.text('reduction', 'none');
  const { shape, type } = data;
  const depth = at.shape.at(-1) ?? 0;
  if (depth > shape.length) call.fail(`has indices of ${depth} dimensions for a tensor of ${shape.length}`);
  const outer = shape.slice(0, depth);
  const [count, inner] = [elementCount(outer), elementCount(shape.slice(depth))];
  const places = elementCount(at.shape.slice(0, -1));
  const { draft } = call;
  return result({ type, shape }, () => {
    const flat = draft.reshape(data.tensor(), [count, inner]);
    const parts = draft.reshape(updates.tensor(), [places, inner]);
    const rows = staticRows(call, at, outer, isDirect(type, reduction) ? undefined : call.numbers(1));
    if (rows) return draft.reshape(scatteredRows(call, flat, rows, parts, reduction), shape);
    const column = draft.reshape(rowsOf(call, at, outer), [places, 1]);
    const indices = draft.op('Expand', [column], { shape: [places, inner] });
    return draft.reshape(draft.op('ScatterElements', [flat, indices, parts], { axis: 0, reduction }), shape);
  });
};

/**
 * Writes rows of updates to rows (count, inner) of a tensor. A row with several updates takes one update per
 * round; each round gathers from the tensor followed by the updates.
 */
function scatteredRows(
  call: NodeCall,
  data: LogicalTensor,
  rows: readonly number[],
  updates: LogicalTensor,
  reduction: string,
): LogicalTensor {
  const { draft } = call;
  const [count = 0] = shapeOf(data);
  const rounds: Map<number, number>[] = [];
  for (const [n, row] of rows.entries()) {
    const free = reduction === 'none' ? 0 : rounds.findIndex(round => !round.has(row));
    const round = rounds[free] ?? new Map<number, number>();
    if (!rounds.includes(round)) rounds.push(round);
    round.set(row, n);
  }
  return rounds.reduce((before, round) => {
    const chosen = Array.from({ length: count }, (_, row) => {
      const n = round.get(row);
      return n === undefined ? row : count + n;
    });
    const both = draft.op('Concat', [before, updates], { axis: 0 });
    const indices = call.constant({ shape: [count], values: chosen }, int64Type);
    const taken = draft.op('Take', [both, indices], { axis: 0 });
    if (reduction === 'none') return taken;
    const written = chosen.map(index => Number(index >= count));
    const isWritten = call.constant({ shape: [count, 1], values: written }, boolType);
    const kind =
      reductionKinds.get(reduction) ??
      call.refuse(`has the reduction '${reduction}', which is not supported`);
    const joined = wrapping((_, both) => draft.op(kind, both))(draft, [before, taken], call);
    return draft.select(isWritten, joined, before);
  }, data);
}

/** The operations that combine updates with existing elements. */
const reductionKinds = new Map(
  Object.entries({ add: 'Add', mul: 'Multiply', max: 'Maximum', min: 'Minimum' }),
);

/** Writes new positions into a cache along its sequence axis; each batch entry has its own first position. */
const tensorScatter: OnnxOperator = call => {
  const [past, update, at] = [call.input(0), call.input(1), call.optional(2)];
  const { shape, type } = past;
  const axis = call.axis(call.int('axis', -2), shape.length);
  const isCircular = call.text('mode', 'linear') !== 'linear';
  const [extent, count] = [shape[axis], update.shape[axis]];
  const wrong = at && staticNumbers(at)?.find(first => first < 0 || first + count > extent);
  if (!isCircular && typeof wrong === 'number')
    call.fail(`writes ${count} positions from ${wrong} of ${extent}`);
  const { draft } = call;
  return result({ type, shape }, () => {
    const first = at?.tensor() ?? draft.inline([0], shape.slice(0, 1), 'i32');
    const written = (to: LogicalTensor, from: LogicalTensor): LogicalTensor =>
      draft.op('TensorScatter', [to, update.tensor(), from], { axis });
    const linear = written(past.tensor(), first);
    // TensorScatter drops positions outside the cache. A circular cache continues at its first position.
    return isCircular ? written(linear, draft.op('Subtract', [first, draft.scalar(extent, 'i32')])) : linear;
  });
};

/** Operators that write elements into a tensor. */
export const scatteringOperators: Readonly<Record<string, OnnxOperator>> = {
  Scatter: scatterElements,
  ScatterElements: scatterElements,
  ScatterND: scatterND,
  TensorScatter: tensorScatter,
};
