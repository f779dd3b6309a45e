import { loads } from '../expr/nodes/walk.ts';
import { dtypeInfo } from '../tensor/dtype/dtype.ts';
import { sameShape } from '../tensor/shape.ts';
import type { TensorDesc } from '../tensor/tensor.ts';
import { inputName } from './element.ts';
import type { Primitive } from './primitive.ts';

/**
 * Whether an output of a primitive may lie where an input lies. The primitive must be maps alone, which read
 * the input at the place that they write and nowhere else. The elements must be whole words, since neighbours
 * in a word are written by others.
 * @param inputs the tensors that the primitive reads.
 * @param at the number of the input.
 * @param output the tensor that may lie there.
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
