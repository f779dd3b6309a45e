import type { DispatchSplit } from '../../codegen/binding-limits/dispatch-splits.ts';
import type { KernelSpec } from '../../codegen/kernel-spec.ts';
import { type EncodeTimeValue, gatheredTensor } from '../../codegen/shader-part.ts';
import type { BoundTensor } from './bind-slice.ts';
import type { ParameterBuffers } from './parameter-buffers.ts';
import type { CompiledKernel } from './pipelines.ts';
import type { PlanLayout } from './plan-layout.ts';
import type { Slices } from './plan-slices.ts';

/** The numbers that a call of `encode` sets, by name. */
export type PlanInputs = Readonly<Record<string, number>>;

/** One dispatch of a plan. */
export interface Dispatch {
  readonly kernel: KernelSpec;
  readonly split: DispatchSplit;
  readonly parameters: ParameterBuffers;
}

/** A dispatch with the buffers of one encode. */
export interface BoundDispatch extends Dispatch {
  /** `skipped` is negative if the range of the split starts after the start of the tensor. */
  readonly bound: readonly BoundTensor[];
  /** The compiled kernel, once a run has needed it. */
  compiled?: CompiledKernel;
  /** The bind group of the last encode, its parameter buffer, and its inputs. */
  last?: {
    readonly parameters: GPUBufferBinding;
    readonly inputs: PlanInputs | undefined;
    readonly group: GPUBindGroup;
  };
}

/** The value of a number that a kernel reads and that is only known when the dispatch is encoded. */
export function encodeTimeNumber(
  value: EncodeTimeValue,
  { kernel, split, bound }: BoundDispatch,
  { words }: PlanLayout,
  slices: Slices,
  inputs: PlanInputs | undefined,
): number {
  if ('input' in value) return inputs?.[value.input] ?? 0;
  if ('dispatch' in value) return split[value.dispatch];
  const boundAs = (name: string): BoundTensor | undefined =>
    bound.find(({ binding }) => binding.name === name);
  if ('wordOf' in value) return Math.floor((boundAs(value.wordOf)?.skipped ?? 0) / 4);
  const name = value.offsetOf;
  const gathered = kernel.gathered.find(binding => binding.name === name);
  if (!gathered) {
    const own = boundAs(name);
    return own ? own.skipped / own.binding.elementBytes : 0;
  }
  // Gathering copies whole words, so the tensor has the same offset within its first word as in its own
  // buffer.
  const first = (boundAs(gatheredTensor)?.skipped ?? 0) + 4 * (words.get(name) ?? 0);
  return (first + ((slices.get(name)?.offset ?? 0) % 4)) / gathered.elementBytes;
}
