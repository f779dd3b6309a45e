import { describeValue, InvalidArgumentError } from '../../errors.ts';
import type { AttentionProblem, BackwardProblem } from '../problem/problem.ts';

/** What a field of a problem must be before the rules look at it. */
interface FieldForm {
  readonly is: (value: unknown) => boolean;
  readonly what: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const areNumbers = (list: unknown): list is number[] =>
  Array.isArray(list) && list.every(n => typeof n === 'number');
const areFour = (list: unknown): boolean => areNumbers(list) && list.length === 4;

const number: FieldForm = { is: value => typeof value === 'number', what: 'a number' };
const flag: FieldForm = { is: value => typeof value === 'boolean', what: 'true or false' };
const name: FieldForm = { is: value => typeof value === 'string', what: 'a name' };
const names: FieldForm = { is: Array.isArray, what: 'an array of names' };
const object: FieldForm = { is: isObject, what: 'an object' };
const operand: FieldForm = {
  is: value => isObject(value) && areFour(value.shape) && areFour(value.strides),
  what: 'an operand of four dimensions',
};
const broadcast: FieldForm = {
  is: value => isObject(value) && areFour(value.strides) && areNumbers(value.source),
  what: 'an operand broadcast to four dimensions',
};
const dropout: FieldForm = {
  is: value =>
    isObject(value) &&
    (value.kind === 'mask'
      ? broadcast.is(value.mask)
      : value.kind === 'philox' && areNumbers(value.seed) && areNumbers(value.offset)),
  what: 'dropout by philox or mask',
};
const orNull = ({ is, what }: FieldForm): FieldForm => ({
  is: value => value === null || is(value),
  what: `${what}, or null`,
});

const forwardFields: Readonly<Record<keyof AttentionProblem, FieldForm>> = {
  ...{ B: number, Hq: number, Hk: number, Hv: number, Sq: number, Skv: number, Dqk: number, Dv: number },
  ...{ q: operand, k: operand, v: operand, o: operand },
  ...{ lengthsQ: name, lengthsKv: name },
  scale: number,
  scoreMod: orNull(object),
  softcap: orNull(number),
  bias: orNull(broadcast),
  alibi: flag,
  mask: orNull(broadcast),
  band: orNull(object),
  blockMask: orNull(broadcast),
  maskMod: orNull(object),
  captures: object,
  sink: flag,
  dropout: orNull(dropout),
  fp8: orNull(object),
  outputs: object,
};

const backwardFields: Readonly<Record<keyof BackwardProblem, FieldForm>> = {
  forward: object,
  ...{ dO: operand, dq: operand, dk: operand, dv: operand },
  dLse: flag,
  gradients: names,
  outputs: object,
};

/**
 * Checks that a problem which was stored, or made by hand, is a forward problem with all its fields.
 * @param kind what the error asks for where there is no problem at all.
 * @throws InvalidArgumentError naming `problem` or the field, as `problem.band`.
 */
export function checkForwardProblem(
  problem: unknown,
  kind = 'a forward problem, as `normalise` makes it',
): asserts problem is AttentionProblem {
  checkKind(problem, 'q', kind);
  checkFields('problem', problem, forwardFields);
}

/**
 * The same of a backward problem.
 * @throws InvalidArgumentError likewise, as `problem.forward.band`.
 */
export function checkBackwardProblem(problem: unknown): asserts problem is BackwardProblem {
  checkKind(problem, 'forward', 'a backward problem, as `normaliseBackward` makes it');
  checkFields('problem', problem, backwardFields);
  checkFields('problem.forward', problem.forward as object, forwardFields);
}

/**
 * The same of a problem of either kind.
 * @throws InvalidArgumentError likewise.
 */
export function checkProblem(problem: unknown): asserts problem is AttentionProblem | BackwardProblem {
  if (isObject(problem) && 'forward' in problem) checkBackwardProblem(problem);
  else checkForwardProblem(problem, 'a problem, as `normalise` or `normaliseBackward` makes it');
}

function checkKind(
  problem: unknown,
  field: string,
  kind: string,
): asserts problem is Readonly<Record<string, unknown>> {
  if (!isObject(problem) || !(field in problem))
    throw new InvalidArgumentError('problem', `must be ${kind}, got ${describeValue(problem)}`);
}

function checkFields(argument: string, problem: object, fields: Readonly<Record<string, FieldForm>>): void {
  for (const [key, { is, what }] of Object.entries(fields)) {
    const value = (problem as Readonly<Record<string, unknown>>)[key];
    if (!is(value))
      throw new InvalidArgumentError(`${argument}.${key}`, `must be ${what}, got ${describeValue(value)}`);
  }
}
