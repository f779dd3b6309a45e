import {
  type AttentionProblem,
  type BackwardProblem,
  callerShape,
  contiguousStrides,
  type DType,
  isContiguous,
  type OperandDesc,
  rowShape,
  type Shape,
  type TensorDesc,
} from '@tilewise/core';
import { type AnyAttentionStep, resultsOf } from './step-call.ts';

/** A result as kernels write it. */
export interface WrittenResult extends TensorDesc {
  /** Whether it may lie in any way; else it is dense. */
  readonly anywhere: boolean;
  /** What the rows hold that belong to no sequence, of which kernels write none; null where there are no such rows. */
  readonly unused: number | null;
}

/** What the kernels of a step write, by name: always o and lse, else what it takes. */
export function writtenResults(
  step: AnyAttentionStep,
  problem: AttentionProblem | BackwardProblem,
): Readonly<Record<string, WrittenResult>> {
  const wanted = new Set(resultsOf(step).map(([name]) => name));
  const kept = (all: Readonly<Record<string, WrittenResult | null>>): Record<string, WrittenResult> =>
    Object.fromEntries(
      Object.entries(all).flatMap(([name, desc]) => (desc && wanted.has(name) ? [[name, desc]] : [])),
    );
  if (!('forward' in problem)) {
    const { B, Hq, Sq, Skv, o, q } = problem;
    const rows = (unused: number): WrittenResult => ({
      ...dense('f32', rowShape(problem)),
      unused: q.starts === 'strided' ? null : unused,
    });
    return {
      o: likeOperand(o, o.dtype),
      lse: rows(-Infinity),
      ...kept({ max: rows(-Infinity), sumExp: rows(0), dropoutMask: dense('u8', [B, Hq, Sq, Skv]) }),
    };
  }
  const { dq, dk, dv, forward } = problem;
  const { bias, Hq } = forward;
  const perHead = dense('f32', [Hq]);
  return kept({
    dq: likeOperand(dq, dq.dtype),
    dk: likeOperand(dk, dk.dtype),
    dv: likeOperand(dv, dv.dtype),
    ...{ dsink: perHead, dAlibi: perHead, dbias: bias && dense(bias.dtype, bias.source) },
  });
}

/** Whether a tensor is what kernels write. */
export function isWritable(desc: TensorDesc, { dtype, shape, anywhere }: WrittenResult): boolean {
  if (desc.dtype !== dtype || `${desc.shape}` !== `${shape}`) return false;
  return anywhere || isContiguous(desc.shape, desc.strides);
}

/** A tensor without gaps. */
export function dense(dtype: DType, shape: Shape): WrittenResult {
  return { dtype, shape, strides: contiguousStrides(shape), anywhere: false, unused: null };
}

/** (B, H, S, D) in any layout; packed dense, as there may be rows between the sequences. */
function likeOperand(desc: OperandDesc, dtype: DType): WrittenResult {
  const isStrided = desc.starts === 'strided';
  return { ...dense(dtype, callerShape(desc)), anywhere: isStrided, unused: isStrided ? null : 0 };
}
