import { shapeOf } from '../../../../ir/tensor/shape.ts';
import { int32Type } from '../file/element-type.ts';
import { type OnnxOperator, result } from '../node-call.ts';
import { once } from '../once.ts';
import { layerNorm } from './reductions/reductions.ts';

/**
 * com.microsoft's norm of the sum of the embeddings of tokens, positions and segments; the number of visible
 * tokens of each entry, by a mask; and the sum itself.
 */
export const embedLayerNormalization: OnnxOperator = call => {
  const [tokens, words, segments, mask] = [call.input(0), call.input(2), call.optional(1), call.optional(7)];
  const [B = 1, S = 1] = tokens.shape;
  const { draft } = call;
  const sum = once(() => {
    const rows = (table: number, indices: number) =>
      draft.op('Take', [call.input(table).tensor(), call.input(indices).tensor()], { axis: 0 });
    const positions = call.has(8)
      ? rows(3, 8)
      : draft.slice(call.input(3).tensor(), { axis: 0, start: 0, size: S });
    const placed = draft.op('Add', [rows(2, 0), positions]);
    return segments ? draft.op('Add', [placed, rows(4, 1)]) : placed;
  });
  const embedded = { type: words.type, shape: [B, S, words.shape[1] ?? 1] };
  const normal = result(embedded, () => {
    const own = { gamma: call.input(5).tensor(), beta: call.input(6).tensor() };
    const axis = shapeOf(sum()).length - 1;
    return layerNorm(call, sum(), { ...own, axis, epsilon: call.float('epsilon', 1e-12) }).y;
  });
  const lengths = result({ type: int32Type, shape: [B] }, () => {
    if (!mask) return draft.inline([0], [B], 'i32');
    const counted = draft.op('ReduceSum', [draft.cast(mask.tensor(), 'f32')], {
      axes: [1],
      keep_dims: false,
    });
    return draft.cast(counted, 'i32');
  });
  return [normal, lengths, result(embedded, sum)];
};
