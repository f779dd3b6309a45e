import {
  type AttentionProblem,
  type BackwardProblem,
  type BroadcastDesc,
  contiguousStrides,
  maxOffset,
  type OperandDesc,
} from '@tilewise/core';
import type { TensorReach } from '../../codegen/dispatch-splits.ts';
import type { ForwardShape } from '../kernels/forward/forward-shape.ts';
import { partialVectors } from '../kernels/forward/partials.ts';
import type { GradientDescs } from './spans.ts';

type Reaches = Readonly<Record<string, TensorReach>>;

/** Along dimensions that only the data can tell (packed, ragged or paged), all of the tensor is touched. */
function operandReach({ shape, strides, starts, page }: OperandDesc, side: 'q' | 'kv'): TensorReach {
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
function rowsReach({ B, Hq, Sq, q }: AttentionProblem, inner = 1): TensorReach {
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

function broadcastReach({ B, Hq, Sq, Skv }: AttentionProblem, { strides }: BroadcastDesc): TensorReach {
  const [sb, sh, si, sj] = strides;
  return {
    side: 'q',
    batches: { count: B, stride: sb },
    heads: { count: Hq, stride: sh },
    rows: { count: Sq, stride: si },
    inner: (Skv - 1) * sj + 1,
  };
}

function problemReaches(problem: AttentionProblem): Reaches {
  const rows = rowsReach(problem);
  const { bias, mask, dropout } = problem;
  return {
    q: operandReach(problem.q, 'q'),
    k: operandReach(problem.k, 'kv'),
    v: operandReach(problem.v, 'kv'),
    o: operandReach(problem.o, 'q'),
    ...{ lse: rows, max: rows, sumExp: rows },
    ...(bias ? { bias: broadcastReach(problem, bias) } : {}),
    ...(mask ? { mask: broadcastReach(problem, mask) } : {}),
    ...(dropout?.kind === 'mask' ? { dropoutMask: broadcastReach(problem, dropout.mask) } : {}),
  };
}

/** What the kernels of forward touch of the tensors that they may see in pieces, by name. */
export function forwardReaches(problem: AttentionProblem, { parts }: Pick<ForwardShape, 'parts'>): Reaches {
  return {
    ...problemReaches(problem),
    workspace: rowsReach(problem, parts * partialVectors(problem.Dv)),
  };
}

/** The same for backward. */
export function backwardReaches({ forward, dO }: BackwardProblem, { dq, dk, dv }: GradientDescs): Reaches {
  const rows = rowsReach(forward);
  return {
    ...problemReaches(forward),
    ...{ dO: operandReach(dO, 'q'), dLse: rows, workspace: rows },
    ...{ dq: operandReach(dq, 'q'), dk: operandReach(dk, 'kv'), dv: operandReach(dv, 'kv') },
    ...(forward.bias ? { dbias: dbiasReach(forward.bias) } : {}),
  };
}

/** The gradient of a bias lies without gaps in the bias's own shape. */
function dbiasReach({ source }: BroadcastDesc): TensorReach {
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
