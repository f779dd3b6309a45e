import type { AttentionProblem, BackwardProblem } from './problem.ts';
import type { Rule } from './rule.ts';

/** What the FP8 contract demands of a forward problem. */
export const fp8ForwardRules: readonly Rule<AttentionProblem>[] = [
  {
    argument: 'fp8',
    kind: 'dtype',
    broken: ({ fp8, q }) =>
      fp8?.kind !== 'scaled' || isFp8(q.dtype)
        ? null
        : `needs q in f8e4m3 or f8e5m2, the format that P is rounded to, got ${q.dtype}`,
  },
  ...(['amaxS', 'amaxO'] as const).map(
    (name): Rule<AttentionProblem> => ({
      argument: `outputs.${name}`,
      kind: 'argument',
      broken: ({ fp8, outputs }) =>
        outputs[name] && fp8 === null ? 'is a result of the FP8 contract: give fp8 too' : null,
    }),
  ),
  ...(['q', 'k', 'v'] as const).map(
    (name): Rule<AttentionProblem> => ({
      argument: name,
      kind: 'dtype',
      broken: ({ fp8, q, [name]: { dtype } }) =>
        fp8?.kind !== 'blocks' || (isFp8(dtype) && dtype === q.dtype)
          ? null
          : `must be f8e4m3 or f8e5m2 as q with mxfp8, got ${dtype}`,
    }),
  ),
  {
    argument: 'mxfp8',
    kind: 'argument',
    broken: p => {
      const other = (['q', 'k', 'v'] as const).find(name => p[name].starts !== 'strided' || p[name].page);
      return p.fp8?.kind !== 'blocks' || other === undefined
        ? null
        : `cannot be combined with a packed, ragged or paged ${other}: blocks would not start where sequences do`;
    },
  },
  {
    argument: 'outputs.amaxS',
    kind: 'argument',
    broken: ({ fp8, outputs }) =>
      outputs.amaxS && fp8?.kind === 'blocks' ? 'is no result with mxfp8: P has a fixed scale' : null,
  },
];

/** The gradient without which a largest value is not known. */
const sources = {
  amaxDQ: ['dq'],
  amaxDK: ['dk'],
  amaxDV: ['dv'],
  amaxDP: ['dq', 'dk'],
} as const;

/** What it demands of a backward problem. */
export const fp8BackwardRules: readonly Rule<BackwardProblem>[] = (
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
      outputs[name] && !sources[name].some(gradient => gradients.includes(gradient))
        ? `needs ${sources[name].join(' or ')} among the gradients, got ${gradients.join(', ')}`
        : null,
  },
]);

function isFp8(dtype: string): boolean {
  return dtype === 'f8e4m3' || dtype === 'f8e5m2';
}
