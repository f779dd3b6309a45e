import { fp8Format, fp8Scalars } from '../problem/fp8.ts';
import { mxfp8Tensors } from '../problem/mxfp8.ts';
import type { AttentionProblem } from '../problem/problem.ts';
import { fp8ForwardRules } from '../rules/fp8-rules.ts';
import type { Rule } from '../rules/rule.ts';

/** What reads the options `fp8` and `mxfp8` of a call, and checks the problem that has them. Other calls need none of it. */
export interface Fp8Reading {
  readonly scalars: typeof fp8Scalars;
  readonly format: typeof fp8Format;
  readonly tensors: typeof mxfp8Tensors;
  readonly rules: readonly Rule<AttentionProblem>[];
}

export const fp8Reading: Fp8Reading = {
  scalars: fp8Scalars,
  format: fp8Format,
  tensors: mxfp8Tensors,
  rules: fp8ForwardRules,
};
