import { createDropout as createPhilox, joinU64 } from '@tilewise/philox';
import { createLengths } from '../attention/lengths.ts';
import type { AttentionProblem, DropoutDesc, Operands } from '../attention/problem.ts';
import { InvalidArgumentError } from '../errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Dropout of the probabilities of a problem, element by element. */
export interface Dropout {
  /** Whether the probability of pair (b, h, i, j) is kept; h counts query heads, i and j within the sequence. */
  keeps(b: number, h: number, i: number, j: number): boolean;
  /** What it is multiplied by: 0, or the problem's scale where it is kept; 1 without dropout. */
  factor(b: number, h: number, i: number, j: number): number;
}

/**
 * The dropout of a problem: from Philox (the same decisions as `dropoutMask` of `@tilewise/philox`; in packed sequences with
 * the row stride of the sequence's own number of keys), from a given mask, or none.
 * @throws InvalidArgumentError when the mask that the problem names is missing.
 */
export function createDropout(problem: AttentionProblem, operands: Partial<Operands<Tensor>>): Dropout {
  const { dropout } = problem;
  if (!dropout) return { keeps: () => true, factor: () => 1 };
  const keeps =
    dropout.kind === 'mask'
      ? maskKeeps(dropout, operands.dropoutMask)
      : philoxKeeps(dropout, problem, operands);
  return { keeps, factor: (b, h, i, j) => (keeps(b, h, i, j) ? dropout.scale : 0) };
}

function maskKeeps(
  { mask: desc }: Extract<DropoutDesc, { kind: 'mask' }>,
  mask: Tensor | undefined,
): Dropout['keeps'] {
  if (!mask) throw new InvalidArgumentError('dropout.mask', 'must be given: the problem has one');
  const { data, offset } = mask;
  const [sb, sh, si, sj] = desc.strides;
  return (b, h, i, j) => data[offset + b * sb + h * sh + i * si + j * sj] !== 0;
}

function philoxKeeps(
  { p, scheme, seed, offset }: Extract<DropoutDesc, { kind: 'philox' }>,
  problem: AttentionProblem,
  operands: Partial<Operands<Tensor>>,
): Dropout['keeps'] {
  const { B, Hq: H, Sq, Skv, packed } = problem;
  const { kv } = createLengths(problem, operands);
  const rowStrides = packed ? Array.from({ length: B }, (_, b) => kv.length(b)) : undefined;
  return createPhilox({
    scheme,
    p,
    seed: joinU64(seed),
    offset: joinU64(offset),
    shape: { B, H, Sq, Skv },
    rowStrides,
  }).keep;
}
