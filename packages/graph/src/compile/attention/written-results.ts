import {
  type AttentionProblem,
  type BackwardProblem,
  contiguousStrides,
  type DType,
  isContiguous,
  type OperandDesc,
  type Shape,
  type TensorDesc,
} from '@tilewise/core';
import { callerShape, rowShape } from '@tilewise/core/engine';
import type { AttentionStep } from '../../ir/program/attention-step.ts';
import { resultsOf } from './step-call.ts';

/** A result in the form that kernels write. */
export interface WrittenResult extends TensorDesc {
  /** Whether the result may have any strides; otherwise it must be contiguous. */
  readonly anywhere: boolean;
  /** The value of rows outside all sequences, which kernels do not write; null if there are no such rows. */
  readonly unused: number | null;
}

/**
 * The results that the kernels of a step write, by name: always o and lse, and others if the step uses them.
 */
export function writtenResults(
  step: AttentionStep,
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

/** Whether kernels can write a tensor. */
export function isWritable(desc: TensorDesc, { dtype, shape, anywhere }: WrittenResult): boolean {
  if (desc.dtype !== dtype || `${desc.shape}` !== `${shape}`) return false;
  return anywhere || isContiguous(desc.shape, desc.strides);
}

/** Describes a contiguous result. */
export function dense(dtype: DType, shape: Shape): WrittenResult {
  return { dtype, shape, strides: contiguousStrides(shape), anywhere: false, unused: null };
}

/** (B, H, S, D) with any strides; contiguous if packed, because rows may lie between sequences. */
function likeOperand(desc: OperandDesc, dtype: DType): WrittenResult {
  const isStrided = desc.starts === 'strided';
  return { ...dense(dtype, callerShape(desc)), anywhere: isStrided, unused: isStrided ? null : 0 };
}
