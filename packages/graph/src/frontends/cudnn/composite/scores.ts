import { standardSlopes } from '@tilewise/core';
import type { LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import type { AnyArguments } from '../arguments/arguments.ts';
import type { OpWriter } from '../op-writer.ts';

/**
 * Reshapes operands for grouped heads to (B, Hk, Hq/Hk, S, D); does nothing if every query head has its own
 * keys.
 */
export interface Grouping {
  readonly groups: number;
  /** Reshapes a tensor that has one head per query head, or one head. */
  perQueryHead(tensor: LogicalTensor): LogicalTensor;
  /** Reshapes a tensor that has one head per key head. */
  perKeyHead(tensor: LogicalTensor): LogicalTensor;
}

/** The grouping of the query heads that share heads of k and v. */
export function grouping(write: OpWriter, { q, k }: AnyArguments<LogicalTensor>): Grouping {
  const Hk = k.shape?.[1] ?? 1;
  const groups = (q.shape?.[1] ?? 1) / Hk;
  if (groups === 1) return { groups, perQueryHead: t => t, perKeyHead: t => t };
  const split = (tensor: LogicalTensor, heads: readonly number[]): LogicalTensor => {
    const shape = [...new Array<number>(4 - (tensor.shape?.length ?? 4)).fill(1), ...(tensor.shape ?? [])];
    return write.reshape(tensor, [shape[0], ...heads, ...shape.slice(2)]);
  };
  return {
    groups,
    perQueryHead: t => split(t, (t.shape?.at(-3) ?? 1) === 1 ? [1, 1] : [Hk, groups]),
    perKeyHead: t => split(t, [Hk, 1]),
  };
}

/** The scores, and the tensors that their gradient needs. */
export interface Scores {
  readonly scores: LogicalTensor;
  /** The conditions that a visible score must meet, in order. */
  readonly conditions: readonly LogicalTensor[];
  readonly scale: LogicalTensor | null;
}

/**
 * Writes the scores from the product of queries and keys, in cuDNN's order: scale, program, bias, ALiBi,
 * padding, band.
 */
export function writeScores(
  write: OpWriter,
  args: AnyArguments<LogicalTensor>,
  { perQueryHead }: Grouping,
  product: LogicalTensor,
): Scores {
  const { op, constant } = write;
  const { attnScale, scoreMod, bias } = args;
  let scores = product;
  const scale =
    attnScale === undefined ? null : typeof attnScale === 'number' ? constant(attnScale) : attnScale;
  if (scale) scores = op('Multiply', [scores, scale]);
  if (scoreMod) scores = scoreMod(write.graph, scores);
  if (bias) scores = op('Add', [scores, perQueryHead(bias)]);
  const index = (axis: -2 | -1): LogicalTensor => op('GenIndex', [scores], { axis }, 'i32');
  if (args.useAlibiMask) {
    const Hq = args.q.shape?.[1] ?? 1;
    const slopes = constant(standardSlopes(Hq), { shape: [1, Hq, 1, 1] });
    const distance = op('Subtract', [index(-1), index(-2)]);
    scores = op('Add', [scores, op('Multiply', [distance, perQueryHead(slopes)])]);
  }
  const conditions = visibility(write, args, perQueryHead, index);
  for (const condition of conditions) scores = op('Select', [condition, scores, constant(-Infinity)]);
  return { scores, conditions, scale };
}

/** The conditions that are all true if a query sees a key. */
function visibility(
  { op, constant }: OpWriter,
  args: AnyArguments<LogicalTensor>,
  perQueryHead: Grouping['perQueryHead'],
  index: (axis: -2 | -1) => LogicalTensor,
): LogicalTensor[] {
  const conditions: LogicalTensor[] = [];
  const atLeast = (a: LogicalTensor, b: LogicalTensor): void => {
    conditions.push(op('GreaterEqual', [a, b], {}, 'bool'));
  };
  const plus = (a: LogicalTensor, n: number): LogicalTensor =>
    n === 0 ? a : op('Add', [a, constant(n, { dtype: 'i32' })], {}, 'i32');
  const { seqLenQ, seqLenKv } = args;
  const lengths = args.usePaddingMask
    ? { q: seqLenQ && perQueryHead(seqLenQ), kv: seqLenKv && perQueryHead(seqLenKv) }
    : {};
  if (lengths.q) atLeast(lengths.q, plus(index(-2), 1));
  if (lengths.kv) atLeast(lengths.kv, plus(index(-1), 1));

  /** The index of each query's diagonal key, plus `n`. */
  const diagonal = (n: number): LogicalTensor => {
    if (args.diagonalAlignment !== 'bottom-right') return plus(index(-2), n);
    if (!lengths.q || !lengths.kv)
      return plus(index(-2), n + (args.k.shape?.[2] ?? 0) - (args.q.shape?.[2] ?? 0));
    const end = op('Add', [plus(index(-2), n), lengths.kv], {}, 'i32');
    return op('Subtract', [end, lengths.q], {}, 'i32');
  };
  const { diagonalBandRightBound: right, diagonalBandLeftBound: left } = args;
  if (right !== undefined) atLeast(diagonal(right), index(-1));
  if (left !== undefined) atLeast(index(-1), diagonal(1 - left));
  return conditions;
}
