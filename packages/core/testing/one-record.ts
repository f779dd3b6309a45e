import { normalise, normaliseBackward } from '../src/attention/normalise.ts';
import type { BackwardInputs, ForwardInputs } from '../src/attention/options/options.ts';
import type { AttentionProblem, BackwardProblem } from '../src/attention/problem/problem.ts';
import type { TensorDesc } from '../src/tensor/tensor.ts';

/** Inputs and options of a forward call in one record, as a test varies them. */
export function normaliseRecord(call: object): { problem: AttentionProblem } {
  const { q, k, v, ...options } = call as ForwardInputs<TensorDesc>;
  return normalise({ q, k, v }, options);
}

/** Normalises a backward call that is given as one record. */
export function normaliseBackwardRecord(call: object): { problem: BackwardProblem } {
  const { q, k, v, o, lse, dO, dLse, ...options } = call as BackwardInputs<TensorDesc>;
  return normaliseBackward({ q, k, v, o, lse, dO, dLse }, options);
}
