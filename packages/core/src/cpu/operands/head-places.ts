import { operandLayouts } from '../../attention/operands/table.ts';
import { contiguousDesc } from '../../attention/problem/describe.ts';
import type { AttentionProblem, OperandDesc } from '../../attention/problem/problem.ts';
import { maxOffset } from '../../tensor/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { PANEL } from '../kernels/interface/panel.ts';
import type { Memory } from '../kernels/memory/memory.ts';
import { readable, writable } from './resident.ts';

/** Heads of an f32 operand or result in the kernels' memory, whose rows are read and written in place. */
export interface HeadPlaces {
  /** The address of the first row of a head. */
  of(b: number, h: number): number;
  /** Bytes from one row to the next. */
  readonly row: number;
}

/**
 * Whether kernels can read the rows of an operand in place: f32 in line, as wide as whole panels.
 */
export function hasPlainRows({ dtype, starts, page, strides, shape }: OperandDesc): boolean {
  return (
    dtype === 'f32' && starts === 'strided' && page === null && strides[3] === 1 && shape[3] % PANEL === 0
  );
}

/** The operands and results of a problem without masks, lengths and further results. */
const plainOperands: ReadonlySet<string> = new Set(['q', 'k', 'v', 'o', 'lse']);

/**
 * Whether scores only take a scale and a band, each query head has a head of k and v, all sequences are as
 * long as they can be, and o and lse are the only results.
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
 * Where the heads of an operand are read, of up to a panel of rows more than there are; null where the memory
 * ends before.
 */
export function operandPlaces(memory: Memory, { strides }: OperandDesc, operand: Tensor): HeadPlaces | null {
  const at = readable(memory, operand);
  const end = maxOffset(operand.shape, operand.strides) + PANEL * strides[2] + PANEL;
  return at + 4 * end <= memory.bytes ? placesFrom(at, strides) : null;
}

/** Where the heads of a contiguous result are written; `at` is for `copyBack`. */
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

/** Copies `count` rows of `width` f32 that lie in line to a head of a result. */
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
