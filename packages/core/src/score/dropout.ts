import { dropoutRules, dropoutSchemes } from '@tilewise/philox';
import { required } from '../attention/host/required.ts';
import { createLengths } from '../attention/host/sequences.ts';
import type { AttentionProblem, DropoutDesc, Operands } from '../attention/problem/problem.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** The dropout of a problem's probabilities, element by element. */
export interface ProblemDropout {
  /**
   * Whether the probability of pair (b, h, i, j) is kept. h counts query heads; i and j count within the
   * sequence.
   */
  keeps(b: number, h: number, i: number, j: number): boolean;
  /**
   * The factor that multiplies the probability of a pair: 0, or the problem's scale if the pair is kept; 1
   * without dropout.
   */
  factor(b: number, h: number, i: number, j: number): number;
  /**
   * Writes 1 (kept) or 0 for the keys j0 ≤ j < j1 of query i to `out`, starting at index `at`; faster than
   * `keeps` for each key.
   */
  keepRow(b: number, h: number, i: number, j0: number, j1: number, out: Uint8Array, at: number): void;
}

type Keeps = Pick<ProblemDropout, 'keeps' | 'keepRow'>;

/**
 * The dropout of a problem: from Philox (the same decisions as `dropoutMask` of `@tilewise/philox`; if k is
 * packed or ragged, the row stride is the sequence's own number of keys), from a given mask, or none.
 * @throws InvalidArgumentError if the mask that the problem names is missing.
 */
export function createProblemDropout(
  problem: AttentionProblem,
  operands: Partial<Operands<Tensor>>,
): ProblemDropout {
  const { dropout } = problem;
  if (!dropout) {
    const keepRow: ProblemDropout['keepRow'] = (_b, _h, _i, j0, j1, out, at) => out.fill(1, at, at + j1 - j0);
    return { keeps: () => true, factor: () => 1, keepRow };
  }
  const { keeps, keepRow } =
    dropout.kind === 'mask'
      ? maskKeeps(dropout, operands.dropoutMask)
      : philoxKeeps(dropout, problem, operands);
  return { keeps, keepRow, factor: (b, h, i, j) => (keeps(b, h, i, j) ? dropout.scale : 0) };
}

function maskKeeps({ mask: desc }: Extract<DropoutDesc, { kind: 'mask' }>, mask: Tensor | undefined): Keeps {
  const { data, offset } = required('dropout.mask', mask);
  const [sb, sh, si, sj] = desc.strides;
  return {
    keeps: (b, h, i, j) => data[offset + b * sb + h * sh + i * si + j * sj] !== 0,
    keepRow(b, h, i, j0, j1, out, at) {
      const row = offset + b * sb + h * sh + i * si;
      for (let j = j0; j < j1; j++) out[at + j - j0] = data[row + j * sj] === 0 ? 0 : 1;
    },
  };
}

function philoxKeeps(
  { p, scheme, seed, offset }: Extract<DropoutDesc, { kind: 'philox' }>,
  problem: AttentionProblem,
  operands: Partial<Operands<Tensor>>,
): Keeps {
  const { B, Hq: H, Sq, Skv, k } = problem;
  const { kv } = createLengths(problem, operands);
  const rowStrides = k.starts === 'strided' ? [] : Array.from({ length: B }, (_, b) => kv.length(b));
  const { threshold } = dropoutRules[scheme](p);
  const { keep, keepRow } = dropoutSchemes[scheme].decider({
    shape: { B, H, Sq, Skv },
    rowStrides,
    seed,
    offset,
    threshold,
  });
  return { keeps: keep, keepRow };
}
