import { isRecord } from '../../tensor/checks/check-on-host.ts';
import { type HostArray, isHostArray } from '../../tensor/host-array.ts';
import { Tensor, type TensorDesc } from '../../tensor/tensor.ts';
import type { BackwardInputs, ForwardInputs, SdpaBackwardOptions, SdpaOptions } from '../options/options.ts';
import { checkCall } from '../options/schema.ts';
import { describeGradient, describeOperand } from '../options/sequences.ts';
import type {
  AttentionProblem,
  BackwardOperands,
  BackwardProblem,
  GradientName,
  Operands,
} from '../problem/problem.ts';
import { backwardRules, checkRows } from '../rules/backward-rules.ts';
import { checkRules } from '../rules/rule.ts';
import { chosen, defined, describeCall } from './describe-call.ts';
import { allReaders, type OptionReaders } from './option-readers.ts';

/**
 * Turns a call into a problem: fills in every default, describes every tensor as (B, H, S, D), and checks all
 * rules.
 * @param inputs q (B, Hq, Sq, Dqk), k (B, Hk, Skv, Dqk) and v (B, Hv, Skv, Dv), or in the layouts that the
 * options allow: tensors, or their descriptions `{ dtype, shape, strides }`.
 * @param options the options of `sdpa`.
 * @returns the problem, which is plain data, and its tensors by name; lists of numbers become tensors.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the option, its value and the
 * rule.
 */
export function normalise<T extends TensorDesc>(
  inputs: ForwardInputs<T>,
  options: SdpaOptions<T> = {},
): { problem: AttentionProblem; operands: Operands<T | Tensor> } {
  return withTensors(normaliseCall(inputs, options, allReaders));
}

/**
 * `normalise` that leaves lists of numbers as host arrays, for an engine that only passes them on, and that
 * reads options with the readers that the engine has loaded.
 * @throws as `normalise`.
 */
export function normaliseCall<T extends TensorDesc>(
  inputs: ForwardInputs<T>,
  options: SdpaOptions<T>,
  readers: OptionReaders,
): { problem: AttentionProblem; operands: Operands<T | HostArray> } {
  checkCall(inputs, options, readers.nearestName);
  const call = describeCall(inputs, options, readers);
  readers.data?.validateOperands(call.problem, call.operands);
  return call;
}

/**
 * The backward problem of a call, checked like the forward one.
 * @param inputs q, k, v, o, lse and dO of the call, and dLse if lse has a gradient: tensors or descriptions.
 * @param options the options of the forward call, and the wanted `gradients`.
 * @throws as `normalise`.
 */
export function normaliseBackward<T extends TensorDesc>(
  inputs: BackwardInputs<T>,
  options: SdpaBackwardOptions<T> = {},
): { problem: BackwardProblem; operands: BackwardOperands<T | Tensor> } {
  return withTensors(normaliseBackwardCall(inputs, options, allReaders));
}

/**
 * `normaliseBackward` that leaves lists of numbers as host arrays.
 * @throws as `normalise`.
 */
export function normaliseBackwardCall<T extends TensorDesc>(
  inputs: BackwardInputs<T>,
  options: SdpaBackwardOptions<T>,
  readers: OptionReaders,
): { problem: BackwardProblem; operands: BackwardOperands<T | HostArray> } {
  checkCall(inputs, options, readers.nearestName);
  const { o, lse, dO, dLse } = inputs;
  const { problem: plain, operands } = describeCall(inputs, options, readers, { dO });
  const { B, Sq, Skv, q, k, v } = plain;
  const gradDType = options.gradDType ?? (options.mxfp8 ? dO?.dtype : undefined);
  const forward: AttentionProblem = { ...plain, o: describeOperand('o', o, operands) };
  const problem: BackwardProblem = {
    forward,
    dO: describeOperand('dO', dO, operands),
    dq: describeGradient('dq', q, { B, S: Sq }, operands, gradDType),
    dk: describeGradient('dk', k, { B, S: Skv }, operands, gradDType),
    dv: describeGradient('dv', v, { B, S: Skv }, operands, gradDType),
    dLse: dLse !== undefined,
    gradients: [...(options.gradients ?? defaultGradients(options))],
    outputs: chosen(['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'], options.outputs),
  };
  checkRules(backwardRules, problem);
  checkRows('lse', lse, forward);
  if (dLse !== undefined) checkRows('dLse', dLse, forward);
  readers.data?.validateBackwardOperands(problem, operands);
  return { problem, operands: defined({ ...operands, o, lse, dO, dLse }) };
}

/**
 * The call with every operand that was a host array turned into a tensor, also those in records. Tensors of
 * another copy of this package are host arrays here.
 */
function withTensors<P, T, O>({
  problem,
  operands,
}: {
  readonly problem: P;
  readonly operands: Operands<T | HostArray>;
}): { problem: P; operands: O } {
  const made = (value: unknown): unknown => {
    if (value instanceof Tensor) return value;
    if (isHostArray(value)) return Tensor.wrap(value.data, value);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, made(part)]));
  };
  return { problem, operands: made(operands) as O };
}

function defaultGradients(options: SdpaOptions<unknown>): GradientName[] {
  const gradients: GradientName[] = ['dq', 'dk', 'dv'];
  if (options.bias !== undefined) gradients.push('dbias');
  if (options.sink !== undefined) gradients.push('dsink');
  if (options.alibi !== undefined && typeof options.alibi !== 'boolean') gradients.push('dAlibi');
  return gradients;
}
