import { createAddressing, type HostOperand } from '../../attention/host/addressing.ts';
import { allocateBy } from '../../tensor/allocate.ts';
import { valueDecoder } from '../../tensor/dtype/convert.ts';

/** Rows of one head of one sequence as a row-major f64 matrix (length × D). */
export type HeadReader = (b: number, h: number) => Float64Array;

/**
 * Reads an operand head by head in f64, whatever its dtype and layout. Reads only positions that exist, so
 * the contents of padding, of the tail of a packed tensor and of unused pages have no effect.
 */
export function headReader({ desc, tensor, side, lists }: HostOperand): HeadReader {
  const { data, rowOffset, stride } = createAddressing(desc, tensor, side, lists);
  const decode = valueDecoder(tensor.dtype);
  const [, , , D] = desc.shape;
  return (b, h) => {
    const length = side.length(b);
    const rows = allocateBy(n => new Float64Array(n), length * D);
    for (let s = 0; s < length; s++) {
      const at = rowOffset(b, h, s);
      for (let d = 0; d < D; d++) rows[s * D + d] = decode(data[at + d * stride]);
    }
    return rows;
  };
}
