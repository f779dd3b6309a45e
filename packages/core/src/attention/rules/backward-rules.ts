import { InvalidDTypeError, InvalidShapeError } from '../../errors.ts';
import { checkTensor } from '../../tensor/check-tensor.ts';
import { sameShape } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { rowShape } from '../problem/describe.ts';
import type { AttentionProblem, BackwardProblem, OperandDesc } from '../problem/problem.ts';
import { validate } from './forward-rules.ts';
import { checkBackwardProblem } from './problem-schema.ts';
import { checkRules, dtypeRule, type Rule } from './rule.ts';
import { storedBackwardRules } from './stored-rules.ts';

const shapeLikeO = (
  name: 'o' | 'dO',
  operand: (p: BackwardProblem) => OperandDesc,
): Rule<BackwardProblem>[] => [
  {
    argument: name,
    kind: 'shape',
    broken: p => {
      const { B, Hq, Sq, Dv } = p.forward;
      const { shape, starts } = operand(p);
      const expected = starts === 'strided' ? [B, Hq, Sq, Dv] : [1, Hq, shape[2], Dv];
      return sameShape(shape, expected)
        ? null
        : `must have the shape of the output ([${expected}] as B, H, S, D), got [${shape}]`;
    },
  },
  dtypeRule(name, name, p => operand(p).dtype),
];

const shapeLikeOperand = (gradient: 'dq' | 'dk' | 'dv'): Rule<BackwardProblem> => ({
  argument: gradient,
  kind: 'shape',
  broken: ({ forward, [gradient]: { shape, starts, page } }) => {
    if (page) return null;
    const { B, Sq, Skv } = forward;
    const [, H, , D] = forward[({ dq: 'q', dk: 'k', dv: 'v' } as const)[gradient]].shape;
    const expected = starts === 'strided' ? [B, H, gradient === 'dq' ? Sq : Skv, D] : [1, H, shape[2], D];
    return sameShape(shape, expected)
      ? null
      : `must have the shape of what it is the gradient of ([${expected}] as B, H, S, D), got [${shape}]`;
  },
});

/** The gradient without which a largest value is not known. */
const amaxSources = {
  amaxDQ: ['dq'],
  amaxDK: ['dk'],
  amaxDV: ['dv'],
  amaxDP: ['dq', 'dk'],
} as const;

/** Largest values are results of the FP8 contract, and backward measures only what it computes. */
const amaxRules: readonly Rule<BackwardProblem>[] = (
  ['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const
).flatMap((name): Rule<BackwardProblem>[] => [
  {
    argument: `outputs.${name}`,
    kind: 'argument',
    broken: ({ forward, outputs }) =>
      outputs[name] && forward.fp8 === null ? 'is a result of the FP8 contract: give fp8 too' : null,
  },
  {
    argument: `outputs.${name}`,
    kind: 'argument',
    broken: ({ outputs, gradients }) =>
      outputs[name] && !amaxSources[name].some(gradient => gradients.includes(gradient))
        ? `needs ${amaxSources[name].join(' or ')} among the gradients, got ${gradients.join(', ')}`
        : null,
  },
]);

/** What backward adds to the forward rules. */
export const backwardRules: readonly Rule<BackwardProblem>[] = [
  ...shapeLikeO('o', p => p.forward.o),
  ...shapeLikeO('dO', p => p.dO),
  ...(
    [
      ['k', 'dk'],
      ['v', 'dv'],
    ] as const
  ).map(
    ([name, gradient]): Rule<BackwardProblem> => ({
      argument: 'gradients',
      kind: 'argument',
      broken: ({ forward, gradients }) =>
        forward[name].page && gradients.includes(gradient)
          ? `cannot hold ${gradient} of a paged ${name}: sequences may share pages, so it has no one place; ask for the others by name`
          : null,
    }),
  ),
  {
    argument: 'gradients',
    kind: 'argument',
    broken: ({ gradients, forward }) => {
      const present: Record<string, boolean> = {
        dq: true,
        dk: true,
        dv: true,
        dbias: forward.bias !== null,
        dsink: forward.sink,
        dAlibi: forward.alibi,
      };
      const isName = (name: string): boolean => Object.hasOwn(present, name);
      const bad = gradients.find(name => !isName(name) || !present[name]);
      if (bad === undefined) return null;
      return isName(bad)
        ? `cannot hold ${bad}: its input was not given`
        : `must be among ${Object.keys(present).join(', ')}, got ${bad}`;
    },
  },
  ...(['dq', 'dk', 'dv'] as const).flatMap(name => [
    dtypeRule<BackwardProblem>('gradDType', name, p => p[name].dtype),
    shapeLikeOperand(name),
  ]),
  {
    argument: 'fp8.formatP',
    kind: 'argument',
    broken: ({ forward: { fp8 } }) =>
      fp8?.kind === 'scaled' && fp8.formatP ? 'is a format of forward only: backward has none for dS' : null,
  },
  ...amaxRules,
];

/**
 * Checks a backward problem, its forward part too, that was stored or made by hand; `normaliseBackward` has
 * checked those that it makes.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the option, its value and the
 * rule.
 */
export function validateBackward(problem: BackwardProblem): void {
  checkBackwardProblem(problem);
  // First, because to the forward rules the given o is the result, whose dtype they call outDType.
  checkRules(backwardRules, problem);
  checkRules(storedBackwardRules, problem);
  validate(problem.forward);
}

/**
 * Checks a tensor with one number per query row (lse, dLse), which no problem describes.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the argument.
 */
export function checkRows(argument: string, t: TensorDesc, forward: AttentionProblem): void {
  checkTensor(argument, t);
  const expected = rowShape(forward);
  if (!sameShape(t.shape, expected))
    throw new InvalidShapeError(argument, `must have shape [${expected}], got [${t.shape}]`);
  if (t.dtype !== 'f32') throw new InvalidDTypeError(argument, `must be f32, got ${t.dtype}`);
}
