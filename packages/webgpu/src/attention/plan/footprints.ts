import {
  type AttentionProblem,
  type BackwardProblem,
  type BroadcastDesc,
  contiguousStrides,
  maxOffset,
  type OperandDesc,
} from '@tilewise/core';
import type { TensorFootprint } from '../../codegen/dispatch-splits.ts';
import type { ForwardShape } from '../kernels/forward/forward-shape.ts';
import { partialVectors } from '../kernels/forward/partials.ts';
import type { GradientDescs } from './spans.ts';

type Footprints = Readonly<Record<string, TensorFootprint>>;

/** Along dimensions that only the data can tell (packed, ragged or paged), all of the tensor is touched. */
function operandFootprint({ shape, strides, starts, page }: OperandDesc, side: 'q' | 'kv'): TensorFootprint {
  const [B, H, S, D] = shape;
  const [sb, sh, ss, sd] = strides;
  const known = starts === 'strided' && page === null;
  return {
    side,
    batches: known ? { count: B, stride: sb } : { count: 1, stride: 0 },
    heads: { count: H, stride: sh },
    rows: known ? { count: S, stride: ss } : { count: 1, stride: 0 },
    inner: known ? (D - 1) * sd + 1 : maxOffset([B, S, D], [sb, ss, sd]) + 1,
  };
}

/** A tensor with `inner` elements for each query and head. */
function rowsFootprint({ B, Hq, Sq, q }: AttentionProblem, inner = 1): TensorFootprint {
  const packed = q.starts === 'cumulative';
  const rows = packed ? q.shape[2] : Sq;
  return {
    side: 'q',
    batches: packed ? { count: 1, stride: 0 } : { count: B, stride: Hq * rows * inner },
    heads: { count: Hq, stride: rows * inner },
    rows: packed ? { count: 1, stride: 0 } : { count: rows, stride: inner },
    inner: packed ? rows * inner : inner,
  };
}

function broadcastFootprint(
  { B, Hq, Sq, Skv }: AttentionProblem,
  { strides }: BroadcastDesc,
): TensorFootprint {
  const [sb, sh, si, sj] = strides;
  return {
    side: 'q',
    batches: { count: B, stride: sb },
    heads: { count: Hq, stride: sh },
    rows: { count: Sq, stride: si },
    inner: (Skv - 1) * sj + 1,
  };
}

function problemFootprints(problem: AttentionProblem): Footprints {
  const rows = rowsFootprint(problem);
  const { bias, mask, dropout } = problem;
  return {
    q: operandFootprint(problem.q, 'q'),
    k: operandFootprint(problem.k, 'kv'),
    v: operandFootprint(problem.v, 'kv'),
    o: operandFootprint(problem.o, 'q'),
    ...{ lse: rows, max: rows, sumExp: rows },
    ...(bias ? { bias: broadcastFootprint(problem, bias) } : {}),
    ...(mask ? { mask: broadcastFootprint(problem, mask) } : {}),
    ...(dropout?.kind === 'mask' ? { dropoutMask: broadcastFootprint(problem, dropout.mask) } : {}),
  };
}

/** What the kernels of forward touch of the tensors that they may see in pieces, by name. */
export function forwardFootprints(
  problem: AttentionProblem,
  { parts }: Pick<ForwardShape, 'parts'>,
): Footprints {
  return {
    ...problemFootprints(problem),
    workspace: rowsFootprint(problem, parts * partialVectors(problem.Dv)),
  };
}

/** The same for backward. */
export function backwardFootprints(
  { forward, dO }: BackwardProblem,
  { dq, dk, dv }: GradientDescs,
): Footprints {
  const rows = rowsFootprint(forward);
  return {
    ...problemFootprints(forward),
    ...{ dO: operandFootprint(dO, 'q'), dLse: rows, workspace: rows },
    ...{ dq: operandFootprint(dq, 'q'), dk: operandFootprint(dk, 'kv'), dv: operandFootprint(dv, 'kv') },
    ...(forward.bias ? { dbias: dbiasFootprint(forward.bias) } : {}),
  };
}

/** The gradient of a bias lies without gaps in the bias's own shape. */
function dbiasFootprint({ source }: BroadcastDesc): TensorFootprint {
  const shape = [...Array.from({ length: 4 - source.length }, () => 1), ...source];
  const [sb, sh, si] = contiguousStrides(shape);
  return {
    side: 'q',
    batches: { count: shape[0], stride: sb },
    heads: { count: shape[1], stride: sh },
    rows: { count: shape[2], stride: si },
    inner: shape[3],
  };
}
