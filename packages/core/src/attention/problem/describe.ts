import { InvalidShapeError } from '../../errors.ts';
import { checkTensor } from '../../tensor/checks/check-tensor.ts';
import { contiguousStrides, type Shape, type Strides } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { BLOCK_MASK_TILE } from './limits.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc, SequenceStarts } from './problem.ts';

/**
 * Describes a (B, H, S, D) tensor as an operand.
 * @param argument the name of the tensor in an error, such as `dq`.
 * @throws InvalidShapeError if the tensor is not of rank 4.
 */
export function describeDense(argument: string, t: TensorDesc): OperandDesc {
  checkRank(argument, t, 4, '(B, H, S, D)');
  const [shape, strides] = [four(t.shape), four(canonicalStrides(t))];
  return { dtype: t.dtype, shape, strides, starts: 'strided', page: null };
}

/**
 * Describes a (T, H, D) tensor as an operand: packed by the cumulative lengths of its side, or with its own
 * ragged offsets.
 * @param argument the name of the tensor in an error, such as `dq`.
 * @throws InvalidShapeError if the tensor is not of rank 3.
 */
export function describeTokens(
  argument: string,
  t: TensorDesc,
  starts: Exclude<SequenceStarts, 'strided'>,
): OperandDesc {
  const lists = starts === 'ragged' ? 'its ragged offsets' : 'the cumulative lengths of its side';
  checkRank(argument, t, 3, `(T, H, D), as ${lists} are given`);
  const [tokens, h, d] = t.shape;
  const [st, sh, sd] = canonicalStrides(t);
  return { dtype: t.dtype, shape: [1, h, tokens, d], strides: [0, sh, st, sd], starts, page: null };
}

/**
 * Describes a paged (blocks, H, pageSize, D) container and its table, (B, pages) or packed (pages), as an
 * operand.
 */
export function describePaged(argument: string, t: TensorDesc, table: TensorDesc): OperandDesc {
  checkRank(argument, t, 4, '(blocks, H, pageSize, D), as a page table is given');
  const tableName = argument === 'k' ? 'pageTableK' : 'pageTableV';
  checkTensor(tableName, table);
  if (table.shape.length !== 1) checkRank(tableName, table, 2, '(B, pages), or rank 1 when packed');
  const dense = describeDense(argument, t);
  const { dtype, shape } = table;
  return {
    ...dense,
    page: { size: t.shape[2], table: { dtype, shape: [...shape], strides: canonicalStrides(table) } },
  };
}

/**
 * A tensor broadcast to `target`, aligned at the last dimension.
 * @throws InvalidShapeError if a dimension is neither 1 nor that of the target.
 */
export function describeBroadcast(
  argument: string,
  t: TensorDesc | undefined,
  target: readonly [number, number, number, number],
): BroadcastDesc | null {
  if (t === undefined) return null;
  checkTensor(argument, t);
  const lead = 4 - t.shape.length;
  const fits = lead >= 0 && t.shape.every((n, d) => n === 1 || n === target[d + lead]);
  if (!fits) {
    throw new InvalidShapeError(argument, `must be broadcastable to [${target}], got shape [${t.shape}]`);
  }
  const own = canonicalStrides(t);
  const strides = four(target.map((_, d) => own[d - lead] ?? 0));
  return { dtype: t.dtype, strides, source: [...t.shape] };
}

/** Shape of a block mask, which has one bit per tile: (B, Hq, query tiles, bytes of key tiles). */
export function blockMaskShape(
  extents: Pick<AttentionProblem, 'B' | 'Hq' | 'Sq' | 'Skv'>,
): [number, number, number, number] {
  const { B, Hq, Sq, Skv } = extents;
  const tiles = (S: number): number => Math.ceil(S / BLOCK_MASK_TILE);
  return [B, Hq, tiles(Sq), Math.ceil(tiles(Skv) / 8)];
}

/** The shape in which the caller sees an operand: (B, H, S, D), or (T, H, D) when packed or ragged. */
export function callerShape({ shape: [b, h, s, d], starts }: OperandDesc): number[] {
  return starts === 'strided' ? [b, h, s, d] : [s, h, d];
}

/** The same layout of an operand without gaps between its elements. */
export function contiguousDesc(desc: OperandDesc): OperandDesc {
  const shape = callerShape(desc);
  const t = { dtype: desc.dtype, shape, strides: contiguousStrides(shape) };
  const { starts } = desc;
  return starts === 'strided' ? describeDense('operand', t) : describeTokens('operand', t, starts);
}

/** Shape of lse, max and sumExp: (Hq, T) when q is packed by its cumulative lengths, else (B, Hq, Sq). */
export function rowShape({ B, Hq, Sq, q }: AttentionProblem): number[] {
  return q.starts === 'cumulative' ? [Hq, q.shape[2]] : [B, Hq, Sq];
}

/**
 * The strides with 0 for every dimension of size 1. Such strides are never used, and callers may put any
 * number there.
 */
function canonicalStrides({ shape, strides }: { shape: Shape; strides: Strides }): number[] {
  return strides.map((s, d) => (shape[d] === 1 ? 0 : s));
}

function four([a, b, c, d]: readonly number[]): [number, number, number, number] {
  return [a, b, c, d];
}

function checkRank(argument: string, t: TensorDesc, rank: number, meaning: string): void {
  checkTensor(argument, t);
  if (t.shape.length !== rank) {
    throw new InvalidShapeError(argument, `must have rank ${rank} ${meaning}, got shape [${t.shape}]`);
  }
}
