import { fp8Format, fp8Scalars } from './fp8.ts';
import { fp8ForwardRules } from './fp8-rules.ts';
import { mxfp8Tensors } from './mxfp8.ts';
import type { AttentionProblem } from './problem.ts';
import type { Rule } from './rule.ts';

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
