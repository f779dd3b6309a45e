import { normalise, normaliseBackward, type SdpaOptions, Tensor } from '@tilewise/core';
import { checkSupport } from '../api/plan/plan-backward.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { VariantReport } from './diagnosis.ts';

const q = Tensor.zeros([1, 2, 4, 8]);
const lse = Tensor.zeros([1, 2, 4]);
const mask = Tensor.zeros([4, 4], { dtype: 'bool' });
const bias = Tensor.zeros([4, 4]);
const manyOperands = { mask, bias, alibi: true, sink: [0, 0], seqLensQ: [4], seqLensKv: [4] };

/** Problems that need more storage buffers in a kernel than WebGPU guarantees, the most common first. */
const variants: readonly (readonly [name: string, options: SdpaOptions, backward: boolean])[] = [
  ['forward and backward', {}, true],
  ['mask and bias, forward', { mask, bias }, false],
  ['mask and bias, backward', { mask, bias }, true],
  ['mask, bias, ALiBi, sinks and lengths, forward', manyOperands, false],
  ['mask, bias, ALiBi, sinks and lengths, backward', manyOperands, true],
];

/** Reports which of these problems a device can run, and what it lacks for the others. */
export function checkVariants(ctx: GpuContext): VariantReport[] {
  return variants.map(([name, options, backward]) => {
    const problem = backward
      ? normaliseBackward({ q, k: q, v: q, o: q, lse, dO: q }, options).problem
      : normalise({ q, k: q, v: q }, options).problem;
    const { supported, reasons } = checkSupport(ctx, problem);
    return { name, enabled: supported, reasons };
  });
}
