import type { DType } from '../../tensor/dtype/dtype.ts';
import { contiguousStrides, elementsSpanned, type Shape } from '../../tensor/shape.ts';
import { callerShape, rowShape } from '../problem/describe.ts';
import type { AttentionProblem, BroadcastDesc, OperandDesc } from '../problem/problem.ts';
import type { Footprint, OperandLayout } from './operand.ts';

type Extents = readonly [batches: number, heads: number, rows: number];

/** A footprint from its counts and strides. */
function footprint(
  side: Footprint['side'],
  [B, H, S]: Extents,
  [sb, sh, ss]: Extents,
  inner: number,
): Footprint {
  return {
    side,
    batches: { count: B, stride: sb },
    heads: { count: H, stride: sh },
    rows: { count: S, stride: ss },
    inner,
  };
}

/** The layout of a tensor without gaps, any part of which a call may read. */
export function contiguousLayout(dtypes: readonly DType[], shape: Shape): OperandLayout {
  return { dtypes, shape, strides: contiguousStrides(shape), footprint: null };
}

/**
 * The layout of q, k, v, o or a gradient. If only the data says which rows belong to a sequence, a call may
 * touch all rows.
 */
export function operandLayout(desc: OperandDesc, side: Footprint['side']): OperandLayout {
  const [B, H, S, D] = desc.shape;
  const [sb, sh, ss, sd] = desc.strides;
  const isDense = desc.starts === 'strided' && desc.page === null;
  return {
    dtypes: [desc.dtype],
    shape: callerShape(desc),
    strides: desc.starts === 'strided' ? desc.strides : [ss, sh, sd],
    footprint: isDense
      ? footprint(side, [B, H, S], [sb, sh, ss], (D - 1) * sd + 1)
      : footprint(side, [1, H, 1], [0, sh, 0], elementsSpanned({ shape: [B, S, D], strides: [sb, ss, sd] })),
  };
}

/** The layout of a tensor that is broadcast to (B, Hq, Sq, Skv). */
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
    footprint: footprint('q', [B, Hq, Sq], [sb, sh, si], (Skv - 1) * sj + 1),
  };
}

/** The layout of a tensor with one f32 number per query row, such as lse. */
export function rowsLayout(problem: AttentionProblem): OperandLayout {
  return { ...contiguousLayout(['f32'], rowShape(problem)), footprint: rowsFootprint(problem) };
}

/** The footprint of a tensor with `inner` consecutive elements for each row of lse. */
export function rowsFootprint(
  { B, Hq, Sq, q }: Pick<AttentionProblem, 'B' | 'Hq' | 'Sq' | 'q'>,
  inner = 1,
): Footprint {
  if (q.starts !== 'cumulative')
    return footprint('q', [B, Hq, Sq], [Hq * Sq * inner, Sq * inner, inner], inner);
  const all = q.shape[2] * inner;
  return footprint('q', [1, Hq, 1], [0, all, 0], all);
}

/** The layout of a broadcast tensor's gradient: without gaps, in the tensor's own shape. */
export function gradientLayout({ dtype, source }: BroadcastDesc): OperandLayout {
  const shape = [...Array.from({ length: 4 - source.length }, () => 1), ...source];
  const [B, H, S, inner] = shape;
  const [sb, sh, ss] = contiguousStrides(shape);
  return {
    ...contiguousLayout([dtype], source),
    footprint: footprint('q', [B, H, S], [sb, sh, ss], inner),
  };
}
