import { normalise, normaliseBackward } from '../src/attention/call/normalise.ts';
import type { BackwardInputs, ForwardInputs } from '../src/attention/options/options.ts';
import type { AttentionProblem, BackwardProblem } from '../src/attention/problem/problem.ts';
import type { TensorDesc } from '../src/tensor/tensor.ts';

/** Normalises a forward call that is given as one record of inputs and options, as tests vary them. */
export function normaliseRecord(call: object): { problem: AttentionProblem } {
  const { q, k, v, ...options } = call as ForwardInputs<TensorDesc>;
  return normalise({ q, k, v }, options);
}

/** Normalises a backward call that is given as one record. */
export function normaliseBackwardRecord(call: object): { problem: BackwardProblem } {
  const { q, k, v, o, lse, dO, dLse, ...options } = call as BackwardInputs<TensorDesc>;
  return normaliseBackward({ q, k, v, o, lse, dO, dLse }, options);
}
