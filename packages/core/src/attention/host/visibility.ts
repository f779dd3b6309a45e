import { compile } from '../../expr/evaluate/evaluate.ts';
import { hostLoaders } from '../../expr/evaluate/host-loaders.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { AttentionProblem, BroadcastDesc, Operands } from '../problem/problem.ts';
import { BLOCK_MASK_TILE } from '../problem/problem.ts';
import { required } from './required.ts';
import { createLengths } from './sequences.ts';

/** Positions from `lo` to `hi` (exclusive); an empty range is [0, 0). */
export type PositionRange = readonly [lo: number, hi: number];

/**
 * Which keys each query sees. Every method asks about query i and key j of sequence b as query head h sees
 * them; positions count within the sequence, in all layouts.
 */
export interface Visibility {
  /** The number of queries of sequence b. Rows beyond them see no key. */
  lengthQ(b: number): number;
  /** The number of keys of sequence b. */
  lengthKv(b: number): number;
  /**
   * The offset from i to the diagonal key: 0 (top-left), or lengthKv(b) − lengthQ(b) (bottom-right, per
   * sequence).
   */
  diagonalOffset(b: number): number;
  /** Keys that query i may see by lengths and diagonal band: a superset of the visible keys. */
  keyRange(b: number, i: number): PositionRange;
  /** Writes the `keyRange` of `count` queries from i0 on to `out`, as lo and hi of each query in turn. */
  keyRanges(b: number, i0: number, count: number, out: Int32Array): void;
  /** Queries that may see key j by lengths and diagonal band. */
  queryRange(b: number, j: number): PositionRange;
  /**
   * Whether the pair is visible by lengths, band, boolean mask, block mask and mask mod. A bias of −Infinity
   * is not considered.
   */
  isVisible(b: number, h: number, i: number, j: number): boolean;
  /** Whether the block mask, if there is one, shows the 128×128 block that contains the pair. */
  showsBlock(b: number, h: number, i: number, j: number): boolean;
  /** Whether only lengths and band decide, so that all of `keyRange` is visible. */
  readonly rangesAreExact: boolean;
  /** Whether there is a mask that is evaluated pair by pair, so that `isVisible` must be called for each. */
  readonly hasPairMask: boolean;
}

/** The operands that decide visibility: lengths, mask, block mask and captures; never q, k or v. */
export type VisibilityOperands = Partial<Operands<Tensor>>;

type PairPredicate = (b: number, h: number, i: number, j: number) => boolean;

/**
 * The visibility of a problem, read from host tensors; without operands no mask hides a pair. No other code
 * on the host implements these rules. They are cuDNN's (right bound, then left bound, then block mask), with
 * FlashAttention's counting of the window.
 * @throws InvalidArgumentError if an operand that the problem names is missing.
 */
export function createVisibility(problem: AttentionProblem, operands: VisibilityOperands | null): Visibility {
  const lengths = createLengths(problem, operands ?? {});
  const { band } = problem;
  const left = band?.left ?? Infinity;
  const right = band?.right ?? Infinity;
  const lengthQ = lengths.q.length;
  const lengthKv = lengths.kv.length;

  function diagonalOffset(b: number): number {
    return band?.align === 'bottom-right' ? lengthKv(b) - lengthQ(b) : 0;
  }

  function keyRanges(b: number, i0: number, count: number, out: Int32Array): void {
    const queries = lengthQ(b);
    const keys = lengthKv(b);
    const offset = diagonalOffset(b);
    for (let n = 0; n < count; n++) {
      const diagonal = i0 + n + offset;
      const lo = Math.max(diagonal - left, 0);
      const hi = Math.min(diagonal + right + 1, keys);
      const sees = i0 + n >= 0 && i0 + n < queries && lo < hi;
      out[2 * n] = sees ? lo : 0;
      out[2 * n + 1] = sees ? hi : 0;
    }
  }

  const range = new Int32Array(2);
  function keyRange(b: number, i: number): PositionRange {
    keyRanges(b, i, 1, range);
    return [range[0], range[1]];
  }

  function queryRange(b: number, j: number): PositionRange {
    if (j < 0 || j >= lengthKv(b)) return empty;
    const diagonal = j - diagonalOffset(b);
    return clip(diagonal - right, diagonal + left + 1, lengthQ(b));
  }

  const mask = operands && maskPredicate(problem.mask, operands.mask);
  const showsBlock = operands && blockMaskPredicate(problem.blockMask, operands.blockMask);
  const pairMasks = operands
    ? Object.values(pairPredicates).flatMap(make => make(problem, operands) ?? [])
    : [];
  const masks = [mask, showsBlock, ...pairMasks].filter(admits => admits !== null);

  function isVisible(b: number, h: number, i: number, j: number): boolean {
    const [lo, hi] = keyRange(b, i);
    return j >= lo && j < hi && masks.every(admits => admits(b, h, i, j));
  }

  return {
    ...{ lengthQ, lengthKv, diagonalOffset, keyRange, keyRanges, queryRange },
    ...{ isVisible, showsBlock: showsBlock ?? (() => true) },
    ...{ rangesAreExact: masks.length === 0, hasPairMask: pairMasks.length > 0 },
  };
}

const empty: PositionRange = [0, 0];

function clip(lo: number, hi: number, length: number): PositionRange {
  const from = Math.max(lo, 0);
  const to = Math.min(hi, length);
  return from < to ? [from, to] : empty;
}

function maskPredicate(desc: BroadcastDesc | null, mask: Tensor | undefined): PairPredicate | null {
  if (!desc) return null;
  const { data, offset } = required('mask', mask);
  const [sb, sh, si, sj] = desc.strides;
  return (b, h, i, j) => data[offset + b * sb + h * sh + i * si + j * sj] !== 0;
}

/** Bit t mod 8 (least significant first) of byte ⌊t / 8⌋ stands for key tile t. */
function blockMaskPredicate(desc: BroadcastDesc | null, blockMask: Tensor | undefined): PairPredicate | null {
  if (!desc) return null;
  const { data, offset } = required('blockMask', blockMask);
  const [sb, sh, si, sj] = desc.strides;
  return (b, h, i, j) => {
    const tileQ = Math.floor(i / BLOCK_MASK_TILE);
    const tileKv = Math.floor(j / BLOCK_MASK_TILE);
    const byte = data[offset + b * sb + h * sh + tileQ * si + (tileKv >> 3) * sj];
    return ((byte >> (tileKv & 7)) & 1) === 1;
  };
}

function maskModPredicate(
  { maskMod }: AttentionProblem,
  { captures }: VisibilityOperands,
): PairPredicate | null {
  if (!maskMod) return null;
  const admits = compile(maskMod, hostLoaders(captures));
  return (b, h, i, j) => admits(NaN, b, h, i, j) !== 0;
}

type MakePredicate = (problem: AttentionProblem, operands: VisibilityOperands) => PairPredicate | null;

/** The masks that are evaluated pair by pair. To add a mask, add a line here. */
const pairPredicates: Readonly<Record<string, MakePredicate>> = {
  maskMod: maskModPredicate,
};
