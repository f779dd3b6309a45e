import { operandLayouts } from '../../../attention/operands/table.ts';
import type { AttentionProblem, OperandDesc } from '../../../attention/problem/problem.ts';
import { maxOffset } from '../../../tensor/shape.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import { PANEL } from '../../kernels/interface/panel.ts';
import type { Memory } from '../../kernels/memory/memory.ts';
import { readable, writable } from '../../operands/resident.ts';

/**
 * The heads of an f32 operand or result that is read or written in place, in the kernels' memory: the address
 * of the first row, and the bytes from one b, head and row to the next.
 */
export interface HeadPlace {
  readonly at: number;
  readonly batch: number;
  readonly head: number;
  readonly row: number;
}

/** Whether kernels can read the rows of an operand in place: contiguous f32 rows that fill whole panels. */
export function hasPlainRows({ dtype, starts, page, strides, shape }: OperandDesc): boolean {
  return (
    dtype === 'f32' && starts === 'strided' && page === null && strides[3] === 1 && shape[3] % PANEL === 0
  );
}

/** The operands and results of a problem without masks, lengths and additional results. */
const plainOperands: ReadonlySet<string> = new Set(['q', 'k', 'v', 'o', 'lse']);

/**
 * Whether scores are changed only by a scale and a band, each query head has its own head of k and v, all
 * sequences have the full length, and o and lse are the only results.
 */
export function isPlainProblem(problem: AttentionProblem): boolean {
  const { Hq, Hk, Hv, scoreMod, softcap, maskMod, dropout, fp8 } = problem;
  return (
    Hq === Hk &&
    Hq === Hv &&
    [scoreMod, softcap, maskMod, dropout, fp8].every(change => change === null) &&
    Object.keys(operandLayouts(problem)).every(name => plainOperands.has(name))
  );
}

/**
 * Where to read the heads of an operand. Kernels may read up to a panel of rows beyond the last one; null if
 * the memory ends before that.
 */
export function operandPlace(memory: Memory, { strides }: OperandDesc, operand: Tensor): HeadPlace | null {
  const at = readable(memory, operand);
  const end = maxOffset(operand.shape, operand.strides) + PANEL * strides[2] + PANEL;
  return at + 4 * end <= memory.bytes ? placeFrom(at, strides) : null;
}

/**
 * Where to write the heads of a result; `at` is for `copyBack`. Null if the result has gaps and is outside
 * the memory: `copyBack` would write the gaps too, which may belong to another result.
 */
export function resultPlace(memory: Memory, result: Tensor): HeadPlace | null {
  if (!result.isContiguous && memory.addressOf(result.data) < 0) return null;
  return placeFrom(writable(memory, result), result.strides);
}

function placeFrom(at: number, [batch, head, row]: readonly number[]): HeadPlace {
  return { at, batch: 4 * batch, head: 4 * head, row: 4 * row };
}
