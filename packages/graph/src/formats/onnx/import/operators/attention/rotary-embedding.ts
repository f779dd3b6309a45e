import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import type { OnnxOperator } from '../../node-call.ts';
import { reshape, shapeOf } from '../emit.ts';
import { withHeads, withoutHeads } from './attention.ts';

/** Positions rotated by tables: the caches of the operator, or their rows by position. */
const rotaryEmbedding: OnnxOperator = call => {
  const x = call.input(0);
  const isFlat = x.shape.length === 3;
  const heads = isFlat
    ? call.int('num_heads', 0) || call.fail("needs 'num_heads' for an input of three dimensions")
    : 0;
  const interleaved = call.flag('interleaved', false);
  const { draft } = call;
  const table = (n: number): LogicalTensor => {
    const cache = call.input(n).tensor();
    const positions = call.optional(3);
    const rows = positions ? draft.op('Take', [cache, positions.tensor()], { axis: 0 }) : cache;
    const [B = 1, S = 1, pairs = 1] = shapeOf(rows);
    return reshape(draft, rows, [B, 1, S, pairs]);
  };
  return [
    {
      ...{ type: x.type, shape: x.shape },
      emit: () => {
        const tensor = isFlat ? withHeads(call, x.tensor(), heads) : x.tensor();
        const rotated = draft.op('RotaryEmbedding', [tensor, table(1), table(2)], { interleaved });
        return isFlat ? withoutHeads(call, rotated) : rotated;
      },
    },
  ];
};

/** Positions of tokens. */
export const positionOperators: Readonly<Record<string, OnnxOperator>> = { RotaryEmbedding: rotaryEmbedding };
