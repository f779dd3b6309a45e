import {
  type AttentionProblem,
  type BackwardAmaxName,
  type BackwardProblem,
  type ForwardAmaxName,
  fp8ScalarNames,
} from '@tilewise/core';
import { type Fp8StepName, fp8AmaxNames } from '@tilewise/core/engine';
import type { ShaderPart } from '../../codegen/shader-part.ts';

export type AmaxName = ForwardAmaxName | BackwardAmaxName;

/**
 * The names of the measured largest values, in the order in which they follow the scalars in the list `fp8`.
 */
export const amaxNames: readonly AmaxName[] = fp8AmaxNames;

/** The index of a largest value in the list `fp8`. */
export const amaxIndex = (name: AmaxName): number => fp8ScalarNames.length + amaxNames.indexOf(name);

/** The length of the list `fp8`: the scalars, then the largest values. */
export const fp8ListLength: number = fp8ScalarNames.length + amaxNames.length;

/** The largest values that a forward problem asks for. */
export const forwardAmaxes = ({ outputs }: AttentionProblem): ForwardAmaxName[] =>
  (['amaxS', 'amaxO'] as const).filter(name => outputs[name]);

/** The largest values that a backward problem asks for. */
export const backwardAmaxes = ({ outputs }: BackwardProblem): BackwardAmaxName[] =>
  (['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const).filter(name => outputs[name]);

/**
 * The FP8 arithmetic of one kernel. For other dtypes its steps do nothing, so kernels need not check the
 * dtype.
 */
export interface Fp8Kernel {
  readonly parts: readonly ShaderPart[];
  /** Applies a step to `x`, a WGSL expression of a vec4f. */
  apply(step: Fp8StepName, x: string): string;
  /** Statements for the end of the kernel, which merge the largest values into the list. */
  readonly finish: string;
}

/**
 * Writes the FP8 arithmetic of a kernel that uses the steps `used` and measures the largest values
 * `measured`.
 */
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
