import { describeValue, InvalidArgumentError, InvalidShapeError } from '@tilewise/core';
import { describeNode, type GraphNode } from './node.ts';
import type { OperationCall } from './schema/operation.ts';
import type { LogicalShape, LogicalTensor } from './tensor/logical-tensor.ts';
import { mergeShapes } from './tensor/shape.ts';

/**
 * Infers the shapes of all tensors of some operations from the shapes of the inputs.
 * @param order operations in topological order.
 * @param known shapes by tensor id, which override the shapes that the tensors declare.
 * @throws InvalidArgumentError for an argument of the wrong type; InvalidShapeError for shapes that do not
 * fit an operation or contradict each other.
 */
export function inferShapes(
  order: readonly GraphNode[],
  known: ReadonlyMap<number, LogicalShape>,
): Map<number, LogicalShape> {
  const isList: boolean = Array.isArray(order);
  if (!isList)
    throw new InvalidArgumentError('order', `must be an array of operations, got ${describeValue(order)}`);
  if (!(known instanceof Map))
    throw new InvalidArgumentError('known', `must be a Map of shapes, got ${describeValue(known)}`);
  const shapes = new Map(known);
  const shapeOf = ({ id, shape }: LogicalTensor): LogicalShape => shapes.get(id) ?? shape;
  for (const node of order) {
    const inputs = node.inputs.map(t => ({ ...t, shape: shapeOf(t) }));
    const { attributes, outputs } = node;
    const inferred = inferredBy(node, { attributes, inputs, outputs });
    for (const t of inputs) shapes.set(t.id, t.shape);
    outputs.forEach((t, n) => {
      const name = `tensor ${t.id} of ${describeNode(node)}`;
      shapes.set(t.id, mergeShapes(name, shapeOf(t), inferred[n] ?? null));
    });
  }
  return shapes;
}

/** The shapes of an operation's outputs. Errors name the operation and its tensors. */
function inferredBy(node: GraphNode, call: OperationCall): readonly LogicalShape[] {
  try {
    return node.operation.infer(call);
  } catch (error) {
    if (!(error instanceof InvalidShapeError)) throw error;
    const tensors = node.inputs.map(t => t.id).join(', ');
    throw new InvalidShapeError(`operation ${describeNode(node)} of tensors ${tensors}:`, error.message);
  }
}
