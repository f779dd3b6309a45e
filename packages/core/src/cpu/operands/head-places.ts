import { operandLayouts } from '../../attention/operands/table.ts';
import { contiguousDesc } from '../../attention/problem/describe.ts';
import type { AttentionProblem, OperandDesc } from '../../attention/problem/problem.ts';
import { maxOffset } from '../../tensor/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { PANEL } from '../kernels/interface/panel.ts';
import type { Memory } from '../kernels/memory/memory.ts';
import { readable, writable } from './resident.ts';

/**
 * The addresses of an f32 operand's or result's heads in the kernels' memory, where rows are read and written
 * in place.
 */
export interface HeadPlaces {
  /** The address of the first row of a head. */
  of(b: number, h: number): number;
  /** Bytes from one row to the next. */
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
export function operandPlaces(memory: Memory, { strides }: OperandDesc, operand: Tensor): HeadPlaces | null {
  const at = readable(memory, operand);
  const end = maxOffset(operand.shape, operand.strides) + PANEL * strides[2] + PANEL;
  return at + 4 * end <= memory.bytes ? placesFrom(at, strides) : null;
}

/** Where to write the heads of a contiguous result; `at` is for `copyBack`. */
export function resultPlaces(
  memory: Memory,
  desc: OperandDesc,
  result: Tensor,
): HeadPlaces & { readonly at: number } {
  const at = writable(memory, result);
  return { ...placesFrom(at, contiguousDesc(desc).strides), at };
}

function placesFrom(at: number, [sb, sh, ss]: readonly number[]): HeadPlaces {
  return { of: (b, h) => at + 4 * (b * sb + h * sh), row: 4 * ss };
}

/** Copies `count` contiguous rows of `width` f32 to a head of a result. */
export function storeHead(
  f32: Float32Array,
  from: number,
  count: number,
  width: number,
  to: number,
  row: number,
): void {
  const source = from >> 2;
  if (row === 4 * width) f32.copyWithin(to >> 2, source, source + count * width);
  else {
    for (let i = 0; i < count; i++) {
      f32.copyWithin((to + i * row) >> 2, source + i * width, source + (i + 1) * width);
    }
  }
}
