import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';
import { withHeads, withoutHeads } from './attention.ts';

/** x with its pairs rotated, in its own shape (B, H, S, D) or (B, S, H·D). */
export function rotated(
  call: NodeCall,
  x: LogicalTensor,
  heads: number,
  tables: readonly LogicalTensor[],
): LogicalTensor {
  const interleaved = call.flag('interleaved', false);
  const dim = call.int('rotary_embedding_dim', 0);
  const [pairs = 0] = shapeOf(tables[0]).slice(-1);
  if (dim !== 0 && dim !== 2 * pairs)
    call.fail(`has rotary_embedding_dim ${dim}, but tables of ${pairs} pairs`);
  const turned = call.draft.op('RotaryEmbedding', [withHeads(call, x, heads), ...tables], { interleaved });
  return shapeOf(x).length === 3 ? withoutHeads(call, turned) : turned;
}

/** Rotation by tables: the operator's caches, or their rows by position. */
const rotaryEmbedding: OnnxOperator = call => {
  const x = call.input(0);
  const heads = call.int('num_heads', 0);
  if (heads === 0 && x.shape.length === 3) call.fail("needs 'num_heads' for an input of three dimensions");
  const { draft } = call;
  const table = (n: number): LogicalTensor => {
    const cache = call.input(n).tensor();
    const positions = call.optional(3);
    const rows = positions ? draft.op('Take', [cache, positions.tensor()], { axis: 0 }) : cache;
    const [B = 1, S = 1, pairs = 1] = shapeOf(rows);
    return draft.reshape(rows, [B, 1, S, pairs]);
  };
  return result(x, () => rotated(call, x.tensor(), heads, [table(1), table(2)]));
};

/** Operators for the positions of tokens. */
export const positionOperators: Readonly<Record<string, OnnxOperator>> = { RotaryEmbedding: rotaryEmbedding };
