import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import type { Draft } from '../../draft.ts';
import { type ElementType, isInteger } from '../../file/element-type.ts';
import { divideIntegers } from './divide-integers.ts';
import type { Emit } from './elementwise.ts';

/** The lower bits of integers, as i32. */
export function lowBits(draft: Draft, x: LogicalTensor, { kind, bits }: ElementType): LogicalTensor {
  const size = draft.scalar(2 ** bits, 'i32');
  const low = divideIntegers(draft, x, size).floorRemainder;
  if (kind === 'unsigned') return low;
  const isPositive = draft.test('Less', low, draft.scalar(2 ** (bits - 1), 'i32'));
  return draft.select(isPositive, low, draft.op('Subtract', [low, size]));
}

/**
 * Arithmetic in which 8-bit and 16-bit integers wrap around like 32-bit ones, although engines saturate them.
 */
export const wrapping =
  (emit: Emit): Emit =>
  (draft, tensors, call) => {
    const { type } = call.input(0);
    if (!isInteger(type) || type.bits >= 32) return emit(draft, tensors, call);
    const wide = tensors.map(tensor => draft.cast(tensor, 'i32'));
    return draft.cast(lowBits(draft, emit(draft, wide, call), type), type.dtype);
  };
