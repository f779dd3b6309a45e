import type { GraphDType } from '../../../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import { broadcastShapes } from '../../../../ir/tensor/shape.ts';
import type { Draft } from '../draft.ts';

/** The extents of a tensor of a draft, which are all known. */
export const shapeOf = ({ shape }: LogicalTensor): readonly number[] => shape ?? [];

/** Whether a tensor is of floats that operations compute with. */
export const isFloat = ({ dtype }: { readonly dtype: GraphDType }): boolean =>
  ['f32', 'f16', 'bf16'].includes(dtype);

/** One number as a tensor of shape []. */
export function scalar(draft: Draft, value: number, dtype: GraphDType): LogicalTensor {
  return draft.op('Constant', [], { value: [value] }, dtype);
}

/** The elements in row-major order under another shape. */
export function reshape(draft: Draft, tensor: LogicalTensor, shape: readonly number[]): LogicalTensor {
  if (`${shapeOf(tensor)}` === `${shape}`) return tensor;
  const before = draft.producerOf(tensor);
  const [source] = before?.kind === 'StaticReshape' ? before.inputs : [];
  if (source) return reshape(draft, source, shape);
  return draft.op('StaticReshape', [tensor], { shape, special_zero: false });
}

/** The elements repeated along dimensions of one element, up to a shape. */
export function expand(draft: Draft, tensor: LogicalTensor, shape: readonly number[]): LogicalTensor {
  return `${shapeOf(tensor)}` === `${shape}` ? tensor : draft.op('Expand', [tensor], { shape });
}

/** The dimensions in another order. */
export function transpose(draft: Draft, tensor: LogicalTensor, order: readonly number[]): LogicalTensor {
  if (order.every((axis, d) => axis === d)) return tensor;
  return draft.op('StaticTranspose', [tensor], { order });
}

/** Elements start, start + step, … along an axis, `size` of them. */
export function slice(
  draft: Draft,
  tensor: LogicalTensor,
  { axis, start, size, step = 1 }: { axis: number; start: number; size: number; step?: number },
): LogicalTensor {
  if (start === 0 && step === 1 && size === shapeOf(tensor)[axis]) return tensor;
  return draft.op('Slice', [tensor], { axis, start, size, step });
}

/** Tensors joined along an axis. */
export function concat(draft: Draft, parts: readonly LogicalTensor[], axis: number): LogicalTensor {
  return parts.length === 1 ? parts[0] : draft.op('Concat', parts, { axis });
}

/** Elements of a where the condition holds, else of b, all broadcast to each other. */
export function select(
  draft: Draft,
  condition: LogicalTensor,
  a: LogicalTensor,
  b: LogicalTensor,
): LogicalTensor {
  const shape = broadcastShapes('Where', shapeOf(a), shapeOf(b)) ?? [];
  const whole = broadcastShapes('Where', shape, shapeOf(condition)) ?? [];
  // Masks of attention are recognised by the operation of oneDNN, which broadcasts the condition alone, and
  // is for floats.
  const isSelect = `${shape}` === `${whole}` && isFloat(a);
  return draft.op(isSelect ? 'Select' : 'Where', [condition, a, b], {}, a.dtype);
}

/**
 * The values in another dtype: floats are rounded to nearest even, floats to integers towards 0, and bool is
 * whether x ≠ 0.
 */
export function cast(draft: Draft, tensor: LogicalTensor, dtype: GraphDType): LogicalTensor {
  if (tensor.dtype === dtype) return tensor;
  // 16-bit floats are converted by way of f32.
  if (isFloat({ dtype }) && dtype !== 'f32' && tensor.dtype !== 'f32')
    return draft.op('TypeCast', [cast(draft, tensor, 'f32')], {}, dtype);
  if (isFloat(tensor) && tensor.dtype !== 'f32' && dtype !== 'f32')
    return cast(draft, draft.op('TypeCast', [tensor], {}, 'f32'), dtype);
  return draft.op('TypeCast', [tensor], {}, dtype);
}
