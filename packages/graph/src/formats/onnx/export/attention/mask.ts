import type { GraphDType } from '../../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import type { OnnxWriter } from '../writer.ts';
import { folded, type Heads } from './operands.ts';

/** Masks that broadcast to the scores. */
export interface Masks {
  readonly added?: LogicalTensor | undefined;
  readonly selected?: LogicalTensor | undefined;
}

/** The mask of `Attention` as one tensor: an additive mask, a selecting mask, or both combined. */
export function writeMask(
  { added, selected }: Masks,
  dtype: GraphDType,
  heads: Heads,
  write: OnnxWriter,
): string | null {
  const own = (tensor: LogicalTensor, name: string): string => {
    const shape = write.shapeOf(tensor) ?? [];
    const target = folded(shape, heads) ?? shape;
    const whole =
      target.length === shape.length ? name : write.node('Reshape', [name, write.integers(target)]);
    const extents = [heads.Sq, heads.Skv];
    // onnxruntime does not broadcast along queries, and for ONNX a mask with fewer keys is a short mask, not
    // a broadcast one.
    return `${shape.slice(-2)}` === `${extents}`
      ? whole
      : write.node('Expand', [whole, write.integers(extents)]);
  };
  const visible = selected && own(selected, write.name(selected));
  const bias = added && own(added, write.as(added, dtype));
  if (!bias || !visible) return bias ?? visible ?? null;
  return write.node('Where', [visible, bias, write.numbers([-Infinity], dtype)]);
}
