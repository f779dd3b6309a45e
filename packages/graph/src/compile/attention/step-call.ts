import type {
  AttentionProblem,
  BackwardInputs,
  BackwardProblem,
  DType,
  ForwardInputs,
  OutputSelection,
  SdpaBackwardOptions,
  SdpaOptions,
  TensorDesc,
} from '@tilewise/core';
import { fp8Readers, normaliseBackwardCall, normaliseCall, type OptionReaders } from '@tilewise/core/engine';
import { checkedMod } from '@tilewise/core/expr';
import {
  type AttentionCallStep,
  type AttentionPass,
  gradientNames,
  operandForm,
} from '../../ir/program/attention-call.ts';
import type { AttentionStep } from '../../ir/program/attention-step.ts';
import { attentionOptions, type Numbers, optionNumbers, scoreScale } from './options.ts';
import { word64Of } from './seed-words.ts';

/**
 * A step as an attention problem, and its tensors (or what stands for them) by the names that engines use.
 */
export interface StepCall {
  readonly problem: AttentionProblem | BackwardProblem;
  readonly operands: object;
}

/** The results that a step takes, by name. */
export function resultsOf({ results }: AttentionStep): [name: string, value: number][] {
  return Object.entries(results).filter((entry): entry is [string, number] => entry[1] !== undefined);
}

/** The values whose numbers a step needs on the host. */
export interface StepNumbers {
  /** The values that determine the problem. */
  readonly structural: readonly number[];
  /** The factors of the scale. */
  readonly scale: readonly number[];
  /** The words of the random seed and offset. */
  readonly stream: { readonly seed: number; readonly offset: number } | null;
}

/** All values whose numbers a step needs. */
export const allNumbers = ({ structural, scale, stream }: StepNumbers): number[] => [
  ...structural,
  ...scale,
  ...Object.values(stream ?? {}),
];

/** The values whose numbers a step needs on the host, by what they determine. */
export function stepNumbers(step: AttentionStep): StepNumbers {
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
 * The scale of a step with these numbers, which may differ between runs of one problem. Undefined if the
 * scale does not depend on a number. Null if the step with these numbers is another problem, or invalid.
 */
export function stepScale(step: AttentionStep, numbers: Numbers): number | null | undefined {
  if (step.kind !== 'attention-call')
    return step.options.options ? scoreScale(step.options.options, numbers) : undefined;
  if (step.operands.scale === undefined) return undefined;
  const [scale] = numbers(step.operands.scale);
  return Number.isFinite(Math.fround(scale)) ? scale : null;
}

/**
 * The common dtype of the gradients of q, k and v that a step uses, if they have one; each gradient is then
 * rounded only once.
 */
function gradientDType(step: AttentionStep, at: (value: number) => TensorDesc): DType | undefined {
  const dtypes = resultsOf(step).flatMap(([name, value]) =>
    ['dq', 'dk', 'dv'].includes(name) ? [at(value).dtype] : [],
  );
  return dtypes.every(dtype => dtype === dtypes[0]) ? dtypes[0] : undefined;
}

/** The results other than gradients that a call returns only on request. */
const selectable = [
  ...['max', 'sumExp', 'dropoutMask', 'amaxS', 'amaxO'],
  ...['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'],
];

/** A call of an engine's `sdpa` or `sdpaBackward`. */
export type AttentionCall<O> =
  | { readonly pass: 'forward'; readonly inputs: ForwardInputs<O>; readonly options: SdpaOptions<O> }
  | {
      readonly pass: 'backward';
      readonly inputs: BackwardInputs<O>;
      readonly options: SdpaBackwardOptions<O>;
    };

/** The values of a step's main tensors, by name. */
function inputsOf(step: AttentionStep): Readonly<Record<string, number>> {
  if (step.kind === 'attention-call') return step.operands;
  const { q, k, v } = step;
  return step.kind === 'sdpa' ? { q, k, v } : { q, k, v, o: step.o, lse: step.lse, dO: step.dO };
}

function passOf(step: AttentionStep): AttentionPass {
  if (step.kind === 'attention-call') return step.pass;
  return step.kind === 'sdpa' ? 'forward' : 'backward';
}

/**
 * The attention call of a step; null if the step with its numbers is not that attention.
 * @param at returns the tensor of a value, or what stands for it.
 */
export function attentionCall<O extends TensorDesc>(
  step: AttentionStep,
  at: (value: number) => O,
  numbers: Numbers,
): AttentionCall<O> | null {
  const values = inputsOf(step);
  const tensor = (name: string): O => at(values[name]);
  const inputs = { q: tensor('q'), k: tensor('k'), v: tensor('v') };
  const extents = { Sq: inputs.q.shape[2], Skv: inputs.k.shape[2] };
  const given =
    step.kind === 'attention-call'
      ? callOptions(step, at, numbers)
      : attentionOptions(step.options, extents, { tensor: at, numbers });
  if (given === null) return null;
  // Some options are host tensors, which engines accept too, although the type of options mentions only the
  // engine's tensors.
  const options = given as SdpaOptions<O>;
  const names = resultsOf(step).map(([name]) => name);
  const chosen = selectable.filter(name => names.includes(name));
  const outputs: OutputSelection = Object.fromEntries(chosen.map(name => [name, true]));
  if (passOf(step) === 'forward') {
    const { o } = step.results as { readonly o?: number };
    const outDType = step.kind === 'sdpa' ? step.outDType : at(o ?? values.q).dtype;
    return { pass: 'forward', inputs, options: { ...options, outputs, outDType } };
  }
  const gradDType = gradientDType(step, at);
  return {
    pass: 'backward',
    inputs: {
      ...{ ...inputs, o: tensor('o'), lse: tensor('lse'), dO: tensor('dO') },
      ...(values.dLse !== undefined && { dLse: tensor('dLse') }),
    },
    options: {
      ...{ ...options, outputs, gradients: gradientNames.filter(name => names.includes(name)) },
      ...(gradDType && { gradDType }),
    },
  };
}

/** Operands are descriptions here, without data to check, and the names of the options are right. */
const readers: OptionReaders = { fp8: fp8Readers, data: null, nearestName: null };

/** The attention problem of a step with these numbers; null in the cases of `attentionCall`. */
export function stepCall<O extends TensorDesc>(
  step: AttentionStep,
  at: (value: number) => O,
  numbers: Numbers,
): StepCall | null {
  const call = attentionCall(step, at, numbers);
  if (!call) return null;
  return call.pass === 'forward'
    ? normaliseCall(call.inputs, call.options, readers)
    : normaliseBackwardCall(call.inputs, call.options, readers);
}

/**
 * The problem of a step with assumed numbers, before the real ones are known. No engine's support depends on
 * these numbers.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the operand.
 */
export function syntheticProblem(
  step: AttentionStep,
  at: (value: number) => TensorDesc,
): AttentionProblem | BackwardProblem {
  const call = stepCall(step, at, (_, assumed = 1) => Float64Array.of(assumed));
  if (!call) throw new Error('the assumed numbers must make an attention call');
  return call.problem;
}

const inputNames: readonly string[] = ['q', 'k', 'v', 'o', 'lse', 'dO', 'dLse'];

/** The options of a call that comes from one operation. */
function callOptions<O extends TensorDesc>(
  { operands, settings: { alibi, p, scheme = 'onednn', scoreMod, ...settings } }: AttentionCallStep,
  at: (value: number) => O,
  numbers: Numbers,
): SdpaOptions<O> {
  const groups: Record<string, Record<string, unknown>> = {};
  const options: Record<string, unknown> = { ...settings, ...(alibi && { alibi }) };
  for (const [name, value] of Object.entries(operands)) {
    if (inputNames.includes(name)) continue;
    const [group, member] = name.split('.');
    const isWord = name === 'dropout.seed' || name === 'dropout.offset';
    const number = (): number | bigint => (isWord ? word64Of(numbers(value)) : numbers(value)[0]);
    const option = operandForm(name) === 'number' ? number() : at(value);
    if (member === undefined) options[group] = option;
    else groups[group] = { ...groups[group], [member]: option };
  }
  // The default draws the masks of dropout that is written as operations.
  if (p !== undefined) groups.dropout = { ...groups.dropout, p, scheme };
  const { captures, ...others } = groups;
  return {
    ...{ ...options, ...others },
    ...(scoreMod && {
      scoreMod: checkedMod<O>(scoreMod, captures as Readonly<Record<string, O>> | undefined),
    }),
  };
}
