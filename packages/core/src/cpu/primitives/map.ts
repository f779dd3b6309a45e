import { inputName } from '../../primitive/element.ts';
import type { MapPrimitive } from '../../primitive/primitive.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { linkedLoops } from '../loops/compiled-loop.ts';
import { formatOf } from '../loops/format.ts';
import { type LoopPlan, loopInputs, planCopy } from '../loops/plan/plan-loop.ts';
import { planParts } from '../loops/plan/plan-parts.ts';
import { copyBack, readable, writable } from '../operands/resident.ts';
import type { KernelPrimitive } from './kernel-primitive.ts';
import { loopStep } from './loops/loop-step.ts';
import { runLoop } from './loops/run-loop.ts';

/**
 * Prepares a map as loops in f32, each result rounded to the output's dtype; null if only the host can run
 * it.
 */
export function prepareMap(
  primitive: MapPrimitive,
  inputs: readonly TensorDesc[],
  output: TensorDesc,
): KernelPrimitive | null {
  const plans = planMap(primitive, inputs, output);
  if (!plans) return null;
  const link = linkedLoops(plans);
  const sources = inputs.map(() => 0);
  return {
    run(kernels, from, [to], team) {
      const { memory } = kernels;
      const loops = link(kernels.loops);
      if (!loops) return false;
      memory.reset();
      const at = writable(memory, to);
      for (let n = 0; n < sources.length; n++) sources[n] = readable(memory, from[n]);
      for (let n = 0; n < plans.length; n++) runLoop(plans[n], loops[n], kernels, at, sources, team);
      copyBack(memory, to, at);
      return true;
    },
    steps(kernels, from, [to]) {
      const { memory } = kernels;
      const inputs = from.map(tensor => readable(memory, tensor));
      return plans.map(plan => loopStep(plan, kernels, writable(memory, to), inputs));
    },
  };
}

function planMap(
  { value }: MapPrimitive,
  inputs: readonly TensorDesc[],
  { dtype, shape, strides }: TensorDesc,
): readonly LoopPlan[] | null {
  // A copy does not convert numbers to f32.
  const isCopy = value.kind === 'load' && value.name === inputName(0) && value.index.length === 0;
  if (isCopy && inputs[0].dtype === dtype) return [planCopy(inputs[0], shape, strides)];
  const format = formatOf(dtype);
  return format && planParts(value, loopInputs(inputs), shape, { kind: 'store', format, strides });
}
