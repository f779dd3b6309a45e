import { checkTensorOf } from '../../tensor/checks/check-tensor.ts';
import { sameShape } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { rowShape } from '../problem/describe.ts';
import type {
  AttentionProblem,
  BackwardAmaxName,
  BackwardProblem,
  GradientName,
  OperandDesc,
} from '../problem/problem.ts';
import { validate } from './forward-rules.ts';
import { checkBackwardProblem } from './problem-schema.ts';
import { argumentRule, checkRules, dtypeRule, type Rule, shapeRule, unless } from './rule.ts';
import { storedBackwardRules } from './stored-rules.ts';

/** The rule that o or dO has the shape of the output. */
const outputRules = (
  name: 'o' | 'dO',
  operand: (problem: BackwardProblem) => OperandDesc,
): Rule<BackwardProblem>[] => [
  shapeRule(name, problem => {
    const { B, Hq, Sq, Dv } = problem.forward;
    const { shape, starts } = operand(problem);
    const expected = starts === 'strided' ? [B, Hq, Sq, Dv] : [1, Hq, shape[2], Dv];
    return unless(
      sameShape(shape, expected),
      `must have the shape of the output ([${expected}] as B, H, S, D), got [${shape}]`,
    );
  }),
  dtypeRule(name, name, p => operand(p).dtype),
];

/** The rules of a gradient, which has the shape of its operand. */
const gradientRules = (
  gradient: 'dq' | 'dk' | 'dv',
  operand: 'q' | 'k' | 'v',
  extent: 'Sq' | 'Skv',
): Rule<BackwardProblem>[] => [
  dtypeRule('gradDType', gradient, p => p[gradient].dtype),
  shapeRule(gradient, ({ forward, [gradient]: { shape, starts, page } }) => {
    const [, H, , D] = forward[operand].shape;
    const expected = starts === 'strided' ? [forward.B, H, forward[extent], D] : [1, H, shape[2], D];
    return unless(
      page !== null || sameShape(shape, expected),
      `must have the shape of its operand ([${expected}] as B, H, S, D), got [${shape}]`,
    );
  }),
];

const pagedRule = (name: 'k' | 'v', gradient: 'dk' | 'dv'): Rule<BackwardProblem> =>
  argumentRule('gradients', ({ forward, gradients }) =>
    unless(
      !forward[name].page || !gradients.includes(gradient),
      `cannot include ${gradient} of a paged ${name}, because sequences may share pages: request the others by name`,
    ),
  );

/**
 * The rules of a largest magnitude. It is a result of the FP8 contract, and backward measures only the
 * gradients that it computes.
 */
const amaxRules = (name: BackwardAmaxName, ...sources: GradientName[]): Rule<BackwardProblem>[] => [
  argumentRule(`outputs.${name}`, ({ forward, outputs }) =>
    unless(!outputs[name] || forward.fp8 !== null, 'is a result of the FP8 contract: give fp8 too'),
  ),
  argumentRule(`outputs.${name}`, ({ outputs, gradients }) =>
    unless(
      !outputs[name] || sources.some(gradient => gradients.includes(gradient)),
      `needs ${sources.join(' or ')} among the gradients, got ${gradients.join(', ')}`,
    ),
  ),
];

/** The rules of backward in addition to those of forward. */
export const backwardRules: readonly Rule<BackwardProblem>[] = [
  ...outputRules('o', p => p.forward.o),
  ...outputRules('dO', p => p.dO),
  pagedRule('k', 'dk'),
  pagedRule('v', 'dv'),
  argumentRule('gradients', ({ gradients, forward: { bias, sink, alibi } }) => {
    const present: Readonly<Record<GradientName, boolean>> = {
      ...{ dq: true, dk: true, dv: true, dbias: bias !== null, dsink: sink, dAlibi: alibi },
    };
    const isName = (name: string): boolean => Object.hasOwn(present, name);
    const bad = gradients.find(name => !isName(name) || !present[name]);
    if (bad === undefined) return null;
    return isName(bad)
      ? `cannot include ${bad}: its input was not given`
      : `must be among ${Object.keys(present).join(', ')}, got ${bad}`;
  }),
  ...gradientRules('dq', 'q', 'Sq'),
  ...gradientRules('dk', 'k', 'Skv'),
  ...gradientRules('dv', 'v', 'Skv'),
  argumentRule('fp8.formatP', ({ forward: { fp8 } }) =>
    unless(fp8?.kind !== 'scaled' || !fp8.formatP, 'is a format of forward only: backward has none for dS'),
  ),
  ...amaxRules('amaxDQ', 'dq'),
  ...amaxRules('amaxDK', 'dk'),
  ...amaxRules('amaxDV', 'dv'),
  ...amaxRules('amaxDP', 'dq', 'dk'),
];

/**
 * Checks a backward problem, including its forward part, that was stored or made by hand; `normaliseBackward`
 * has already checked the problems that it makes.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the option, its value and the
 * rule.
 */
export function validateBackward(problem: BackwardProblem): void {
  checkBackwardProblem(problem);
  // These come first, because the forward rules treat the given o as the result, and call its dtype outDType.
  checkRules(backwardRules, problem);
  checkRules(storedBackwardRules, problem);
  validate(problem.forward);
}

/**
 * Checks a tensor with one number per query row (lse, dLse), which is not part of the problem.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the argument.
 */
export function checkRows(argument: string, t: TensorDesc, forward: AttentionProblem): void {
  checkTensorOf(argument, t, rowShape(forward), 'f32');
}
