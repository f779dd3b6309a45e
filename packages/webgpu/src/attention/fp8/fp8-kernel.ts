import type { AttentionProblem, Fp8StepName } from '@tilewise/core';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import type { AmaxName } from './fp8-amaxes.ts';
import type { Fp8Tools } from './fp8-tools.ts';

/** FP8 arithmetic in one kernel. Without the contract its steps are nothing, so that kernels need not ask. */
export interface Fp8Kernel {
  readonly parts: readonly ShaderPart[];
  /** `x`, a WGSL expression of a vec4f, after a step. */
  apply(step: Fp8StepName, x: string): string;
  /** Statements for the end of the kernel: largest values go to the list. */
  readonly finish: string;
}

const plain: Fp8Kernel = { parts: [], apply: (_, x) => x, finish: '' };

/** The FP8 arithmetic of a kernel that takes `used` steps and measures `measured`. */
export function fp8Kernel(
  tools: Fp8Tools | null,
  problem: AttentionProblem,
  used: readonly Fp8StepName[],
  measured: readonly AmaxName[] = [],
  pass: 'forward' | 'backward' = 'forward',
): Fp8Kernel {
  const { fp8 } = problem;
  if (!tools || fp8 === null || fp8.kind === 'blocks') return plain;
  return tools.arithmetic(problem, used, measured, pass);
}
