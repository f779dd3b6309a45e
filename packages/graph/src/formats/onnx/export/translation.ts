import { UnsupportedOperationError } from '../../../errors.ts';
import { describeNode, type GraphNode } from '../../../ir/node.ts';
import type { GraphDType } from '../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { OnnxWriter } from './writer.ts';

/**
 * Writes an operation as ONNX nodes.
 * @throws UnsupportedOperationError for an operation that ONNX cannot express.
 */
export type Translation = (node: GraphNode, write: OnnxWriter) => void;

/** Translations by the kind of the operation. */
export type Translations = Readonly<Record<string, Translation>>;

/** The rank of a tensor that an operation reads. */
export function rankOf(node: GraphNode, tensor: LogicalTensor, write: OnnxWriter): number {
  const rank = write.shapeOf(tensor)?.length;
  if (rank !== undefined) return rank;
  throw new UnsupportedOperationError(
    describeNode(node),
    'needs tensors of known rank to be written in ONNX',
  );
}

/** The dtype for mixed operands: their common dtype, else f32. */
export function commonDType(...tensors: readonly LogicalTensor[]): GraphDType {
  const [{ dtype }] = tensors;
  return tensors.every(t => t.dtype === dtype) ? dtype : 'f32';
}
