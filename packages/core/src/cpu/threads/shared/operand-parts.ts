import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { headGroups } from '../../attention/tasks.ts';

/** How to hand operands to workers in parts, so that the workers can start before everything has arrived. */
export interface OperandParts {
  /** The number of parts: one for each of the `headGroups`, or one in total. */
  readonly count: number;
  /**
   * Buffers that consist of these parts, in order. Any part of the work may need all of the other buffers.
   */
  readonly buffers: ReadonlySet<ArrayBufferLike>;
}

/**
 * The operands that are read head by head. All other operands, including lse and dLse, are read at the start.
 */
const HEAD_BY_HEAD = ['q', 'k', 'v', 'o', 'dO'];

/** The parts of the operands of a forward or backward pass. */
export function operandParts(problem: AttentionProblem, operands: Operands<Tensor>): OperandParts {
  const buffers = new Set<ArrayBufferLike>();
  // Operands with block scales are dequantised as a whole.
  const inParts = problem.fp8?.kind !== 'blocks';
  const paged: readonly unknown[] = [problem.k.page && 'k', problem.v.page && 'v'];
  const isInParts = (name: string, part: unknown): boolean =>
    inParts && HEAD_BY_HEAD.includes(name) && !paged.includes(name) && isHeadsInOrder(part);
  const all = Object.entries(operands);
  for (const [name, part] of all) {
    if (part instanceof Tensor && isInParts(name, part)) buffers.add(part.data.buffer);
  }
  for (const [name, part] of all) {
    if (!isInParts(name, part)) for (const t of tensorsIn(part)) buffers.delete(t.data.buffer);
  }
  return { count: buffers.size > 0 ? headGroups(problem) : 1, buffers };
}

/** Whether a tensor is (B, H, S, D), row-major, and fills its buffer. */
function isHeadsInOrder(t: unknown): boolean {
  return (
    t instanceof Tensor &&
    t.shape.length === 4 &&
    t.isContiguous &&
    t.offset === 0 &&
    t.data.byteOffset === 0 &&
    t.size === t.data.length &&
    t.data.byteLength === t.data.buffer.byteLength
  );
}

/** The tensors in a value, at any depth. */
export function tensorsIn(value: unknown): Tensor[] {
  if (value instanceof Tensor) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(tensorsIn) : [];
}
