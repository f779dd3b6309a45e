import { type Addressing, createAddressing, type PlacementLists } from '../../attention/host/addressing.ts';
import type { SequenceSide } from '../../attention/host/sequences.ts';
import type { OperandDesc } from '../../attention/problem/problem.ts';
import { valueDecoder } from '../../tensor/dtype/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';

/** Rows of one head of one sequence as a row-major f64 matrix (length × D). */
export type HeadReader = (b: number, h: number) => Float64Array;

/**
 * Reads an operand head by head in f64, whatever its dtype and layout. Only positions that exist are read, so
 * what lies in padding, in the tail of a packed tensor or in an unused page is never seen.
 */
export function headReader(
  desc: OperandDesc,
  operand: Tensor,
  side: SequenceSide,
  lists: PlacementLists = {},
): HeadReader {
  const addressing = createAddressing(desc, operand, side, lists);
  return (b, h) => readRows(addressing, operand, side.length(b), desc.shape[3], b, h);
}

function readRows(
  { data, rowOffset, stride }: Addressing,
  { dtype }: Tensor,
  length: number,
  D: number,
  b: number,
  h: number,
): Float64Array {
  const decode = valueDecoder(dtype);
  const rows = new Float64Array(length * D);
  for (let s = 0; s < length; s++) {
    const at = rowOffset(b, h, s);
    for (let d = 0; d < D; d++) rows[s * D + d] = decode(data[at + d * stride]);
  }
  return rows;
}
