import type { AttentionProblem, Operands } from '../../../attention/problem/problem.ts';
import type { SdpaResult } from '../../../engine/engine.ts';
import { dropoutMaskOf } from '../../../score/dropout-mask.ts';
import { Tensor } from '../../../tensor/tensor.ts';
import { allocateTensor } from '../../operands/row-result.ts';
import type { PassContext } from '../pass-context.ts';
import { inOrder } from '../tasks.ts';
import { runForward } from './forward-pass.ts';
import { allocateForward, type ForwardAmax, type ForwardResults } from './forward-results.ts';

/** The forward results of a problem; `into` has existing tensors to write to. */
export function forward(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  context: PassContext,
  into?: Partial<ForwardResults>,
): SdpaResult<Tensor> {
  const results = allocateForward(problem, allocateTensor, into);
  const amax = runForward(problem, operands, context, results, inOrder());
  return forwardResult(problem, operands, results, amax);
}

/** All results that a caller requested. */
export function forwardResult(
  problem: AttentionProblem,
  operands: Operands<Tensor>,
  { o, lse, max, sumExp }: ForwardResults,
  amax: ForwardAmax,
): SdpaResult<Tensor> {
  const { outputs } = problem;
  const result: { -readonly [R in keyof SdpaResult<Tensor>]: SdpaResult<Tensor>[R] } = { o, lse };
  if (max) result.max = max;
  if (sumExp) result.sumExp = sumExp;
  if (outputs.dropoutMask) result.dropoutMask = dropoutMaskOf(problem, operands);
  if (outputs.amaxS) result.amaxS = Tensor.from([amax.amaxS], [1]);
  if (outputs.amaxO) result.amaxO = Tensor.from([amax.amaxO], [1]);
  return result;
}
