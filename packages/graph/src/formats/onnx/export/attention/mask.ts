import type { GraphDType } from '../../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import type { OnnxWriter } from '../writer.ts';
import { folded, type Heads } from './operands.ts';

/** Tensors that broadcast to the scores. */
export interface Masks {
  readonly added?: LogicalTensor | undefined;
  readonly selected?: LogicalTensor | undefined;
}

/** The mask of `Attention` as one tensor: what is added, what is selected, or both. */
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
    // Onnxruntime broadcasts no queries, and fewer keys are a short mask to ONNX.
    return `${shape.slice(-2)}` === `${extents}`
      ? whole
      : write.node('Expand', [whole, write.integers(extents)]);
  };
  const visible = selected && own(selected, write.name(selected));
  const bias = added && own(added, write.as(added, dtype));
  if (!bias || !visible) return bias ?? visible ?? null;
  return write.node('Where', [visible, bias, write.numbers([-Infinity], dtype)]);
}
