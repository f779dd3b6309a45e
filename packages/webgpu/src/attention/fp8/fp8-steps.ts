import {
  type AttentionProblem,
  type BackwardAmaxName,
  type BackwardProblem,
  type ForwardAmaxName,
  type Fp8StepName,
  fp8AmaxNames,
  fp8ScalarNames,
} from '@tilewise/core';
import type { ShaderPart } from '../../codegen/shader-part.ts';

export type AmaxName = ForwardAmaxName | BackwardAmaxName;

/** Largest values, in the order in which they follow the scalars in the list `fp8`. */
export const amaxNames: readonly AmaxName[] = fp8AmaxNames;

/** Where a largest value lies in the list `fp8`, in elements. */
export const amaxPlace = (name: AmaxName): number => fp8ScalarNames.length + amaxNames.indexOf(name);

/** Elements of the list `fp8`: the scalars, then the largest values. */
export const fp8ListLength: number = fp8ScalarNames.length + amaxNames.length;

/** The largest values that a forward problem asks for. */
export const forwardAmaxes = ({ outputs }: AttentionProblem): ForwardAmaxName[] =>
  (['amaxS', 'amaxO'] as const).filter(name => outputs[name]);

/** The largest values that a backward problem asks for. */
export const backwardAmaxes = ({ outputs }: BackwardProblem): BackwardAmaxName[] =>
  (['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const).filter(name => outputs[name]);

/** FP8 arithmetic in one kernel. For other dtypes its steps are nothing, so that kernels need not ask. */
export interface Fp8Kernel {
  readonly parts: readonly ShaderPart[];
  /** `x`, a WGSL expression of a vec4f, after a step. */
  apply(step: Fp8StepName, x: string): string;
  /** Statements for the end of the kernel: largest values go to the list. */
  readonly finish: string;
}

/** Writes the FP8 arithmetic of a kernel that takes `used` steps and measures `measured`. */
export type Fp8Arithmetic = (
  problem: AttentionProblem,
  used: readonly Fp8StepName[],
  measured: readonly AmaxName[],
  pass: 'forward' | 'backward',
) => Fp8Kernel;

const plain: Fp8Kernel = { parts: [], apply: (_, x) => x, finish: '' };

/** The FP8 arithmetic of a kernel, if the problem has any. */
export function fp8Kernel(
  arithmetic: Fp8Arithmetic | undefined,
  problem: AttentionProblem,
  used: readonly Fp8StepName[],
  measured: readonly AmaxName[] = [],
  pass: 'forward' | 'backward' = 'forward',
): Fp8Kernel {
  const { fp8 } = problem;
  if (!arithmetic || fp8 === null || fp8.kind === 'blocks') return plain;
  return arithmetic(problem, used, measured, pass);
}
