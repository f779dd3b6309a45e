import {
  type AttentionProblem,
  type BackwardProblem,
  type DType,
  normalise,
  normaliseBackward,
  type OutputSelection,
  type SdpaBackwardOptions,
  type SdpaOptions,
  type TensorDesc,
} from '@tilewise/core';
import {
  type AttentionCallStep,
  callOptions,
  callProblem,
  gradientNames,
  type OperandName,
  operandForm,
} from '../../ir/program/attention-call.ts';
import type { AttentionStep } from '../../ir/program/attention-step.ts';
import type { Numbers } from './options.ts';
import { attentionOptions, optionNumbers, scoreScale } from './options.ts';
import { word64Of } from './seed-words.ts';
import { syntheticProblem } from './synthetic-problem.ts';

/** A step that is attention. */
export type AnyAttentionStep = AttentionStep | AttentionCallStep;

/** A step as an attention problem, and what stands for its tensors by the names that engines have for them. */
export interface StepCall {
  readonly problem: AttentionProblem | BackwardProblem;
  readonly operands: object;
}

/** The results that a step takes, by name. */
export function resultsOf({ results }: AnyAttentionStep): [name: string, value: number][] {
  return Object.entries(results).filter((entry): entry is [string, number] => entry[1] !== undefined);
}

/**
 * The values whose numbers a step needs on the host: those that decide its problem, those that its scale is the product of, and the
 * words of its random stream.
 */
export function stepNumbers(step: AnyAttentionStep): {
  readonly structural: readonly number[];
  readonly scale: readonly number[];
  readonly stream: { readonly seed: number; readonly offset: number } | null;
} {
  if (step.kind !== 'attention-call') {
    const { options, dropout } = step.options;
    const scale = options?.scale.factors.map(({ value }) => value) ?? [];
    const others = { ...step.options, options: options && { ...options, scale: { factors: [] } } };
    const stream = dropout ? { seed: dropout.seed, offset: dropout.offset } : null;
    const isStream = (value: number): boolean => value === stream?.seed || value === stream?.offset;
    return { structural: optionNumbers(others).filter(value => !isStream(value)), scale, stream };
  }
  const { 'dropout.seed': seed, 'dropout.offset': offset, scale, ...others } = step.operands;
  const structural = Object.entries(others).flatMap(([name, value]) =>
    operandForm(name) === 'number' ? [value] : [],
  );
  return {
    structural,
    scale: scale === undefined ? [] : [scale],
    stream: seed === undefined ? null : { seed, offset },
  };
}

/**
 * The scale that a step has by its numbers, which may be another at each run of one problem; undefined where none are its scale, null
 * where they make something else of the problem, or an error.
 */
export function stepScale(step: AnyAttentionStep, numbers: Numbers): number | null | undefined {
  if (step.kind !== 'attention-call')
    return step.options.options ? scoreScale(step.options.options, numbers) : undefined;
  if (step.operands.scale === undefined) return undefined;
  const [scale] = numbers(step.operands.scale);
  return Number.isFinite(Math.fround(scale)) ? scale : null;
}

/** The problem of a step before its numbers are known: whether an engine can run it does not depend on them. */
export function syntheticProblemOf(
  step: AnyAttentionStep,
  descOf: (value: number) => TensorDesc,
): AttentionProblem | BackwardProblem {
  return step.kind === 'attention-call' ? callProblem(step, descOf) : syntheticProblem(step, descOf);
}

/** The dtype of the gradients of q, k and v that a step takes, if they have one: each is then rounded once. */
export function gradientDType(
  step: AnyAttentionStep,
  descOf: (value: number) => TensorDesc,
): DType | undefined {
  const dtypes = resultsOf(step).flatMap(([name, value]) =>
    name === 'dq' || name === 'dk' || name === 'dv' ? [descOf(value).dtype] : [],
  );
  return dtypes.every(dtype => dtype === dtypes[0]) ? dtypes[0] : undefined;
}

/** Results that a call gives only where they are asked for, and not as gradients. */
const selectable = [
  ...['max', 'sumExp', 'dropoutMask', 'amaxS', 'amaxO'],
  ...['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'],
];

/** What `sdpa` or `sdpaBackward` of an engine are given. */
export type CallArguments<O> =
  | { readonly pass: 'forward'; readonly inputs: Inputs<O>; readonly options: SdpaOptions<O> }
  | { readonly pass: 'backward'; readonly inputs: Inputs<O>; readonly options: SdpaBackwardOptions<O> };

/**
 * What a step calls attention with.
 * @param at what stands for a value.
 * @throws NotAttention when the numbers make something else of it.
 */
export function callArguments<O extends TensorDesc>(
  step: AnyAttentionStep,
  at: (value: number) => O,
  numbers: Numbers,
): CallArguments<O> {
  const { pass, inputs, options } =
    step.kind === 'attention-call' ? ofCall(step, at, numbers) : ofStep(step, at, numbers);
  const names = resultsOf(step).map(([name]) => name);
  const chosen = selectable.filter(name => names.includes(name));
  const outputs: OutputSelection = Object.fromEntries(chosen.map(name => [name, true]));
  if (pass === 'forward') return { pass, inputs, options: { ...options, outputs } };
  const gradDType = gradientDType(step, at);
  const gradients = gradientNames.filter(name => names.includes(name));
  return { pass, inputs, options: { ...options, outputs, gradients, ...(gradDType && { gradDType }) } };
}

/**
 * The attention problem that a step is with these numbers.
 * @throws NotAttention as `callArguments`.
 */
export function stepCall<O extends TensorDesc>(
  step: AnyAttentionStep,
  at: (value: number) => O,
  numbers: Numbers,
): StepCall {
  const { pass, inputs, options } = callArguments(step, at, numbers);
  return pass === 'forward' ? normalise(inputs, options) : normaliseBackward(inputs, options);
}

type Inputs<O> = { readonly [name in 'q' | 'k' | 'v' | 'o' | 'lse' | 'dO']: O } & { readonly dLse?: O };

interface Described<O> {
  readonly pass: 'forward' | 'backward';
  readonly inputs: Inputs<O>;
  readonly options: SdpaOptions<O>;
}

function ofStep<O extends TensorDesc>(
  step: AttentionStep,
  descOf: (value: number) => O,
  numbers: Numbers,
): Described<O> {
  const [q, k, v] = [step.q, step.k, step.v].map(descOf);
  const source = { tensor: descOf, numbers };
  // Some options are host tensors, which engines take as well; their own type says so for their tensors only.
  const options = attentionOptions(
    step.options,
    { Sq: q.shape[2], Skv: k.shape[2] },
    source,
  ) as SdpaOptions<O>;
  if (step.kind === 'sdpa') {
    return {
      pass: 'forward',
      inputs: { q, k, v, o: q, lse: q, dO: q },
      options: { ...options, outDType: step.outDType },
    };
  }
  const inputs = { q, k, v, o: descOf(step.o), lse: descOf(step.lse), dO: descOf(step.dO) };
  return { pass: 'backward', inputs, options };
}

function ofCall<O extends TensorDesc>(
  step: AttentionCallStep,
  descOf: (value: number) => O,
  numbers: Numbers,
): Described<O> {
  const { operands, settings, pass, results } = step;
  const names = Object.keys(operands) as OperandName[];
  const tensor = (name: OperandName): O => descOf(operands[name]);
  const options = callOptions(names, settings, {
    tensor,
    number: name => {
      const read = numbers(operands[name]);
      return name === 'dropout.seed' || name === 'dropout.offset' ? word64Of(read) : read[0];
    },
  });
  const [q, k, v] = [tensor('q'), tensor('k'), tensor('v')];
  if (pass === 'forward') {
    const outDType = results.o === undefined ? q.dtype : descOf(results.o).dtype;
    return { pass: 'forward', inputs: { q, k, v, o: q, lse: q, dO: q }, options: { ...options, outDType } };
  }
  const inputs = {
    ...{ q, k, v, o: tensor('o'), lse: tensor('lse'), dO: tensor('dO') },
    ...(operands.dLse !== undefined && { dLse: tensor('dLse') }),
  };
  return { pass: 'backward', inputs, options };
}
