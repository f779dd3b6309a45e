import type { AttentionProblem } from '../problem/problem.ts';
import { argumentRule, type Rule, unless } from './rule.ts';

/** The rules of the FP8 contract for a forward problem. */
export const fp8ForwardRules: readonly Rule<AttentionProblem>[] = [
  {
    argument: 'fp8',
    kind: 'dtype',
    broken: ({ fp8, q }) =>
      fp8?.kind !== 'scaled' || fp8.formatP || isFp8(q.dtype)
        ? null
        : `needs q in f8e4m3 or f8e5m2, the format that P is rounded to, got ${q.dtype}`,
  },
  ...(['q', 'k', 'v'] as const).map(
    (name): Rule<AttentionProblem> => ({
      argument: name,
      kind: 'dtype',
      broken: ({ fp8, q, [name]: { dtype } }) =>
        fp8?.kind !== 'blocks' || (isFp8(dtype) && dtype === q.dtype)
          ? null
          : `must be f8e4m3 or f8e5m2 with mxfp8, and the dtype of q, got ${dtype}`,
    }),
  ),
  argumentRule('mxfp8', ({ fp8, ...p }) => {
    const other = (['q', 'k', 'v'] as const).find(name => p[name].starts !== 'strided' || p[name].page);
    return unless(
      fp8?.kind !== 'blocks' || other === undefined,
      `cannot be combined with a packed, ragged or paged ${other}: blocks would not start where sequences do`,
    );
  }),
  argumentRule('outputs.amaxS', ({ fp8, outputs }) =>
    unless(
      !outputs.amaxS || fp8?.kind !== 'blocks',
      'is not available with mxfp8, where P has a fixed scale',
    ),
  ),
];

function isFp8(dtype: string): boolean {
  return dtype === 'f8e4m3' || dtype === 'f8e5m2';
}
