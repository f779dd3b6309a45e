import type { OperandDesc } from '../../../attention/problem/problem.ts';
import { maxOffset } from '../../../tensor/shape.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import { PANEL } from '../../kernels/interface/panel.ts';
import type { Memory } from '../../kernels/memory/memory.ts';
import { readable, writable } from '../../operands/resident.ts';

/**
 * The addresses of the heads of an f32 operand or result in the kernels' memory: the address of the first
 * row, and the bytes from one b, head and row to the next.
 */
export interface HeadAddresses {
  readonly at: number;
  readonly batch: number;
  readonly head: number;
  readonly row: number;
}

/**
 * The addresses for reading an operand. Null if the memory ends too early: kernels may read up to a panel of
 * rows beyond the last one.
 */
export function operandAddresses(
  memory: Memory,
  { strides }: OperandDesc,
  operand: Tensor,
): HeadAddresses | null {
  const at = readable(memory, operand);
  const end = maxOffset(operand.shape, operand.strides) + PANEL * strides[2] + PANEL;
  return at + 4 * end <= memory.bytes ? addressesFrom(at, strides) : null;
}

/**
 * The addresses for writing a result; `at` is for `copyBack`. Null if the result has gaps and is outside the
 * memory: `copyBack` would write the gaps too, which may belong to another result.
 */
export function resultAddresses(memory: Memory, result: Tensor): HeadAddresses | null {
  if (!result.isContiguous && memory.addressOf(result.data) < 0) return null;
  return addressesFrom(writable(memory, result), result.strides);
}

function addressesFrom(at: number, [batch, head, row]: readonly number[]): HeadAddresses {
  return { at, batch: 4 * batch, head: 4 * head, row: 4 * row };
}
