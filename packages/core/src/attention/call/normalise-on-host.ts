import { checkOnHost } from '../../tensor/checks/check-on-host.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { BackwardInputs, ForwardInputs, SdpaBackwardOptions, SdpaOptions } from '../options/options.ts';
import type { AttentionProblem, BackwardOperands, BackwardProblem, Operands } from '../problem/problem.ts';
import { normalise, normaliseBackward } from './normalise.ts';

/**
 * `normalise` for an engine that reads its tensors on the host.
 * @throws as `normalise`; InvalidArgumentError naming a tensor that is elsewhere, such as on a GPU.
 */
export function normaliseOnHost(
  inputs: ForwardInputs<Tensor>,
  options?: SdpaOptions<Tensor>,
): { problem: AttentionProblem; operands: Operands<Tensor> } {
  checkCallOnHost(inputs, options);
  return normalise(inputs, options);
}

/**
 * `normaliseBackward` for an engine that reads its tensors on the host.
 * @throws as `normaliseOnHost`.
 */
export function normaliseBackwardOnHost(
  inputs: BackwardInputs<Tensor>,
  options?: SdpaBackwardOptions<Tensor>,
): { problem: BackwardProblem; operands: BackwardOperands<Tensor> } {
  checkCallOnHost(inputs, options);
  return normaliseBackward(inputs, options);
}

/**
 * Checks that the tensors of a call are on the host. In a mod only the captures are tensors, so the
 * expression, which may be large, is skipped. `normalise` refuses options that are not an object.
 */
function checkCallOnHost(inputs: object, given: SdpaOptions<Tensor> | undefined): void {
  const { scoreMod, maskMod, ...options } = given ?? {};
  const captures = { scoreMod: { captures: scoreMod?.captures }, maskMod: { captures: maskMod?.captures } };
  checkOnHost({ ...inputs, ...options, ...captures });
}
