import { InvalidArgumentError, InvalidShapeError } from '../../errors.ts';
import { lengthsFromCumulative } from '../../layout/cumulative-lengths.ts';
import type { DType } from '../../tensor/dtype/dtype.ts';
import { isHostArray, numbersOf } from '../../tensor/host-array.ts';
import { contiguousStrides } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { sideOf } from '../operands/table.ts';
import { describeDense, describePaged, describeTokens } from '../problem/describe.ts';
import type { LengthsKind, OperandDesc, PageDesc, RaggedName } from '../problem/problem.ts';
import type { Lists } from './lists.ts';

/**
 * An operand as the caller lays it out: (B, H, S, D), or (T, H, D), located by its ragged offsets or the
 * cumulative lengths of its side.
 * @throws InvalidShapeError for another rank, or for rank 3 without a list that says where sequences start.
 */
export function describeOperand(
  name: RaggedName,
  t: TensorDesc,
  lists: Lists<unknown>,
  pageTable?: TensorDesc,
): OperandDesc {
  const ragged = lists[`raggedOffsets.${name}`] !== undefined;
  if (pageTable !== undefined) {
    if (!ragged) return describePaged(name, t, pageTable);
    throw new InvalidArgumentError(`raggedOffsets.${name}`, 'cannot be combined with a page table');
  }
  if (ragged) return describeTokens(name, t, 'ragged');
  if (t?.shape?.length !== 3) return describeDense(name, t);
  const cumulative = `cuSeqLens${sideOf[name]}` as const;
  if (lists[cumulative] !== undefined) return describeTokens(name, t, 'cumulative');
  throw new InvalidShapeError(
    name,
    `must have rank 4 (B, H, S, D), or 3 (T, H, D) with ${cumulative} or raggedOffsets.${name}, got shape [${t.shape}]`,
  );
}

/**
 * The contiguous layout of a result that belongs to the operand `like`. It is ragged if offsets are given for
 * it, with the number of tokens of `like` (of the whole batch, if `like` is dense); packed if `like` is not
 * dense and there are cumulative lengths; else dense.
 */
export function describeResult(
  name: RaggedName,
  like: OperandDesc,
  { B, S, D }: { readonly B: number; readonly S: number; readonly D: number },
  dtype: OperandDesc['dtype'],
  lists: Lists<unknown>,
): OperandDesc {
  const H = like.shape[1];
  const tokens = like.starts === 'strided' ? B * S : like.shape[2];
  const plain = (...shape: number[]): TensorDesc => ({ dtype, shape, strides: contiguousStrides(shape) });
  if (lists[`raggedOffsets.${name}`] !== undefined)
    return describeTokens(name, plain(tokens, H, D), 'ragged');
  const isPacked = like.starts !== 'strided' && lists[`cuSeqLens${sideOf[name]}`] !== undefined;
  if (isPacked) return describeTokens(name, plain(tokens, H, D), 'cumulative');
  return describeDense(name, plain(B, H, S, D));
}

/**
 * The layout of a gradient: the layout of its operand or, if the gradient or its operand has ragged offsets,
 * the layout of a result.
 * @param dtype default: that of the operand.
 */
export function describeGradient(
  name: 'dq' | 'dk' | 'dv',
  operand: OperandDesc,
  extents: { readonly B: number; readonly S: number },
  lists: Lists<unknown>,
  dtype: DType = operand.dtype,
): OperandDesc {
  const ragged = operand.starts === 'ragged' || lists[`raggedOffsets.${name}`] !== undefined;
  if (!ragged) return { ...operand, dtype };
  return describeResult(name, operand, { ...extents, D: operand.shape[3] }, dtype, lists);
}

/** How the lists of a side define the lengths of its sequences. */
export function lengthsKind(side: 'Q' | 'Kv', lists: Lists<unknown>): LengthsKind {
  if (lists[`seqLens${side}`] !== undefined) return 'lengths';
  return lists[`cuSeqLens${side}`] === undefined ? 'full' : 'cumulative';
}

/**
 * The batch size: that of q or, if q is not dense, from the lists that say where its sequences start.
 * @throws InvalidShapeError for a list whose shape is not (B + 1).
 */
export function batchSize(q: OperandDesc, lists: Lists<TensorDesc>): number {
  if (q.starts === 'strided') return q.shape[0];
  const name = lists.cuSeqLensQ ? 'cuSeqLensQ' : 'raggedOffsets.q';
  const shape = lists[name]?.shape ?? [];
  if (shape.length !== 1 || shape[0] < 1)
    throw new InvalidShapeError(name, `must have shape [B + 1], got [${shape}]`);
  return shape[0] - 1;
}

/**
 * Positions per sequence on one side: the size of a dense operand, the capacity of a paged one, else the
 * longest sequence.
 * @param stated the option `maxSeqLen*`.
 * @throws InvalidArgumentError if it must be stated, or differs from what the tensors say.
 */
export function extentOf(
  side: 'Q' | 'Kv',
  operands: readonly OperandDesc[],
  lists: Lists<TensorDesc>,
  stated: number | undefined,
): number {
  const dense = operands.find(({ starts, page }) => starts === 'strided' && page === null);
  if (dense) return known(`maxSeqLen${side}`, dense.shape[2], stated);
  if (stated !== undefined) return stated;
  const page = operands.every(desc => desc.page) ? operands[0]?.page : null;
  return page ? capacity(page, lists.cuPagesK) : longest(side, lists);
}

/** Keys that a page table holds per sequence; for a packed table, per longest sequence. */
function capacity({ size, table }: PageDesc, cuPages: TensorDesc | undefined): number {
  if (table.shape.length !== 1) return size * table.shape[1];
  if (isHostArray(cuPages)) return size * largest(lengthsFromCumulative(cuPages, 'cuPagesK'));
  throw new InvalidArgumentError('maxSeqLenKv', 'must be given when cuPagesK is not on the host');
}

/** The message for packed or ragged tensors without lengths. */
export function lengthsMissing(side: 'Q' | 'Kv'): string {
  return `must be given, or cuSeqLens${side}: ragged offsets do not say how long a sequence is`;
}

const largest = (all: readonly number[]): number => all.reduce((a, b) => Math.max(a, b), 0);

/**
 * The longest sequence, from lists on the host: with cumulative lengths, tokens that `seqLens*` leaves unused
 * count too, because dropout counts them. A device tensor cannot be read here, so the caller must state the
 * length.
 */
function longest(side: 'Q' | 'Kv', lists: Lists<TensorDesc>): number {
  const given = lists[`cuSeqLens${side}`] ? (`cuSeqLens${side}` as const) : (`seqLens${side}` as const);
  const list = lists[given];
  if (!list) throw new InvalidArgumentError(`seqLens${side}`, lengthsMissing(side));
  if (!isHostArray(list))
    throw new InvalidArgumentError(`maxSeqLen${side}`, `must be given when ${given} is not on the host`);
  return largest(given === `seqLens${side}` ? numbersOf(list) : lengthsFromCumulative(list, given));
}

/**
 * A length that follows from the tensors. A different stated length is an error, because it would be ignored.
 */
function known(argument: string, extent: number, stated: number | undefined): number {
  if (stated === undefined || stated === extent) return extent;
  const rule = `is for packed, ragged and paged tensors; these have ${extent} positions, got ${stated}`;
  throw new InvalidArgumentError(argument, rule);
}
