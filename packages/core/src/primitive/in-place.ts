import { loads } from '../expr/nodes/walk.ts';
import { dtypeInfo } from '../tensor/dtype/dtype.ts';
import { sameShape } from '../tensor/shape.ts';
import type { TensorDesc } from '../tensor/tensor.ts';
import { inputName } from './element.ts';
import type { Primitive } from './primitive.ts';

/**
 * Whether an output of a primitive may share the memory of an input. The primitive must consist of maps only,
 * which read the input only at the index that they write. The elements must be whole words, because other
 * lanes write the neighbours within a word.
 * @param inputs the tensors that the primitive reads.
 * @param at the index of the input.
 * @param output the tensor that may share its memory.
 */
export function canOverwrite(
  primitive: Primitive,
  inputs: readonly TensorDesc[],
  at: number,
  output: TensorDesc,
): boolean {
  const { dtype, shape, strides } = inputs[at];
  return (
    (primitive.kind === 'map' || (primitive.kind === 'rows' && primitive.reductions.length === 0)) &&
    dtypeInfo[dtype].bytes === 4 &&
    dtype === output.dtype &&
    sameShape(shape, output.shape) &&
    sameShape(strides, output.strides) &&
    (primitive.kind === 'map' ? [primitive.value] : primitive.outputs).every(
      expr =>
        typeof expr === 'number' ||
        loads(expr).every(({ name, index }) => name !== inputName(at) || index.length === 0),
    )
  );
}
