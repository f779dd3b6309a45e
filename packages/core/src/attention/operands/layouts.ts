import type { DType } from '../../tensor/dtype/dtype.ts';
import { contiguousStrides, elementsSpanned, type Shape } from '../../tensor/shape.ts';
import { callerShape, rowShape } from '../problem/describe.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc } from '../problem/problem.ts';
import type { Footprint, OperandLayout } from './operand.ts';

const once = { count: 1, stride: 0 } as const;

/** A tensor without gaps, all of which may be read by any part of a call. */
export function contiguousLayout(dtypes: readonly DType[], shape: Shape): OperandLayout {
  return { dtypes, shape, strides: contiguousStrides(shape), footprint: null };
}

/**
 * q, k, v, o or a gradient. Where only the data says which rows belong to a sequence, a call may touch all of
 * them.
 */
export function operandLayout(desc: OperandDesc, side: Footprint['side']): OperandLayout {
  const [B, H, S, D] = desc.shape;
  const [sb, sh, ss, sd] = desc.strides;
  const isDense = desc.starts === 'strided' && desc.page === null;
  return {
    dtypes: [desc.dtype],
    shape: callerShape(desc),
    strides: desc.starts === 'strided' ? desc.strides : [ss, sh, sd],
    footprint: {
      side,
      batches: isDense ? { count: B, stride: sb } : once,
      heads: { count: H, stride: sh },
      rows: isDense ? { count: S, stride: ss } : once,
      inner: isDense ? (D - 1) * sd + 1 : elementsSpanned({ shape: [B, S, D], strides: [sb, ss, sd] }),
    },
  };
}

/** A tensor that is broadcast to (B, Hq, Sq, Skv). */
export function broadcastLayout(
  { B, Hq, Sq, Skv }: AttentionProblem,
  { strides, source }: BroadcastDesc,
  dtypes: readonly DType[],
): OperandLayout {
  const [sb, sh, si, sj] = strides;
  return {
    dtypes,
    shape: source,
    strides: strides.slice(4 - source.length),
    footprint: {
      side: 'q',
      batches: { count: B, stride: sb },
      heads: { count: Hq, stride: sh },
      rows: { count: Sq, stride: si },
      inner: (Skv - 1) * sj + 1,
    },
  };
}

/** One f32 number per query row, as lse has. */
export function rowsLayout(problem: AttentionProblem): OperandLayout {
  return { ...contiguousLayout(['f32'], rowShape(problem)), footprint: rowsFootprint(problem) };
}

/** The footprint of a tensor with `inner` consecutive elements for each row of lse. */
export function rowsFootprint(
  { B, Hq, Sq, q }: Pick<AttentionProblem, 'B' | 'Hq' | 'Sq' | 'q'>,
  inner = 1,
): Footprint {
  const isPacked = q.starts === 'cumulative';
  const rows = isPacked ? q.shape[2] : Sq;
  return {
    side: 'q',
    batches: isPacked ? once : { count: B, stride: Hq * rows * inner },
    heads: { count: Hq, stride: rows * inner },
    rows: isPacked ? once : { count: rows, stride: inner },
    inner: isPacked ? rows * inner : inner,
  };
}

/** The gradient of a broadcast tensor: without gaps, in the tensor's own shape. */
export function gradientLayout({ dtype, source }: BroadcastDesc): OperandLayout {
  const shape = [...Array.from({ length: 4 - source.length }, () => 1), ...source];
  const [sb, sh, si] = contiguousStrides(shape);
  return {
    ...contiguousLayout([dtype], source),
    footprint: {
      side: 'q',
      batches: { count: shape[0], stride: sb },
      heads: { count: shape[1], stride: sh },
      rows: { count: shape[2], stride: si },
      inner: shape[3],
    },
  };
}
