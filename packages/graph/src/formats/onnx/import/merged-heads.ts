import { elementCount } from '@tilewise/core';
import type { Attributes } from '../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../ir/tensor/shape.ts';
import { operationOf } from '../../../ops/table.ts';

/** Adds operations to the graph. */
interface Writer {
  producerOf(
    tensor: LogicalTensor,
  ): { readonly kind: string; readonly inputs: readonly LogicalTensor[] } | undefined;
  op(kind: string, inputs: readonly LogicalTensor[], given: Attributes): LogicalTensor;
}

/** The tensor (B, H, X, Y) that was reshaped to (B·H, X, Y); null for any other tensor. */
function beforeMerge(draft: Writer, tensor: LogicalTensor): LogicalTensor | null {
  const node = draft.producerOf(tensor);
  const [source] = node?.kind === 'StaticReshape' ? node.inputs : [];
  if (!source) return null;
  const [from, to] = [shapeOf(source), shapeOf(tensor)];
  const isMerge = from.length === 4 && to.length === 3 && `${from.slice(-2)}` === `${to.slice(-2)}`;
  return isMerge ? source : null;
}

/** An operation on tensors (B, H, X, Y), whose result is merged to (B·H, X, Y). */
export interface SplitOperation {
  readonly inputs: readonly LogicalTensor[];
  readonly given: Attributes;
  readonly heads: readonly [B: number, H: number];
}

/**
 * Rewrites an operation on tensors (B·H, X, Y) as an operation on (B, H, X, Y) whose result is merged; null
 * if no operand was merged. Exporters write attention as batched products of three dimensions with reshapes
 * around the masks; this moves the reshapes after attention, which then has its usual form.
 */
export function splitOperands(
  draft: Writer,
  kind: string,
  inputs: readonly LogicalTensor[],
  given: Attributes,
): SplitOperation | null {
  const isElementwise = operationOf(kind)?.element !== undefined || kind === 'TypeCast';
  const isRows = kind === 'SoftMax' && (given.axis === -1 || given.axis === 2);
  if (!isElementwise && !isRows && kind !== 'MatMul') return null;
  const sources = inputs.map(tensor => beforeMerge(draft, tensor));
  const first = sources.find(source => source !== null);
  if (!first) return null;
  const [B = 1, H = 1] = shapeOf(first);
  const split: LogicalTensor[] = [];
  for (const [n, tensor] of inputs.entries()) {
    const source = sources[n];
    const shape = shapeOf(tensor);
    if (source && `${shapeOf(source).slice(0, 2)}` === `${[B, H]}`) split.push(source);
    else if (shape.length === 3 && shape[0] === B * H)
      split.push(
        draft.op('StaticReshape', [tensor], { shape: [B, H, ...shape.slice(1)], special_zero: false }),
      );
    else if (kind !== 'MatMul' && (shape.length < 3 || elementCount(shape.slice(0, -2)) === 1))
      split.push(tensor);
    else return null;
  }
  return { inputs: split, heads: [B, H], given: kind === 'SoftMax' ? { ...given, axis: 3 } : given };
}
