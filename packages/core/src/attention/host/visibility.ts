import { compile } from '../../expr/evaluate/evaluate.ts';
import { hostLoaders } from '../../expr/evaluate/host-loaders.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { AttentionProblem, Operands } from '../problem/problem.ts';
import { blockMaskPredicate, type PairPredicate } from './block-mask.ts';
import { createKeyRanges, type KeyRanges } from './key-ranges.ts';
import { required } from './required.ts';

/** Which keys each query sees, by lengths, band and masks, pair by pair. */
export interface Visibility extends KeyRanges {
  /**
   * Whether the pair is visible by lengths, band, boolean mask, block mask and mask mod. A bias of −Infinity
   * is not considered.
   */
  readonly isVisible: PairPredicate;
  /** Whether only lengths and band decide, so that all of `keyRange` is visible. */
  readonly rangesAreExact: boolean;
}

/** The operands that decide visibility: lengths, mask, block mask and captures; never q, k or v. */
export type VisibilityOperands = Partial<Operands<Tensor>>;

/**
 * The visibility of a problem, read from host tensors; without operands no mask hides a pair.
 * @throws InvalidArgumentError if an operand that the problem names is missing.
 */
export function createVisibility(problem: AttentionProblem, operands: VisibilityOperands | null): Visibility {
  const ranges = createKeyRanges(problem, operands ?? {});
  const predicates = operands ? maskPredicates(problem, operands) : [];
  return {
    ...ranges,
    isVisible(b, h, i, j) {
      const [lo, hi] = ranges.keyRange(b, i);
      return j >= lo && j < hi && predicates.every(shows => shows(b, h, i, j));
    },
    rangesAreExact: predicates.length === 0,
  };
}

/**
 * A test of pairs for each mask of a problem.
 * @throws InvalidArgumentError if an operand that the problem names is missing.
 */
export function maskPredicates(problem: AttentionProblem, operands: VisibilityOperands): PairPredicate[] {
  return Object.values(masks).flatMap(make => make(problem, operands) ?? []);
}

function maskPredicate({ mask: desc }: AttentionProblem, { mask }: VisibilityOperands): PairPredicate | null {
  if (!desc) return null;
  const { data, offset } = required('mask', mask);
  const [sb, sh, si, sj] = desc.strides;
  return (b, h, i, j) => data[offset + b * sb + h * sh + i * si + j * sj] !== 0;
}

function maskModPredicate(
  { maskMod }: AttentionProblem,
  { captures }: VisibilityOperands,
): PairPredicate | null {
  if (!maskMod) return null;
  const admits = compile(maskMod, hostLoaders(captures));
  return (b, h, i, j) => admits(NaN, b, h, i, j) !== 0;
}

/** All masks. To add a mask, add a line here. */
const masks: Readonly<
  Record<string, (problem: AttentionProblem, operands: VisibilityOperands) => PairPredicate | null>
> = {
  mask: maskPredicate,
  blockMask: blockMaskPredicate,
  maskMod: maskModPredicate,
};
