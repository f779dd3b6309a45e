import { hostPrimitives } from '../../primitive/host/host-primitives.ts';
import type { Primitive } from '../../primitive/primitive.ts';
import type { Primitives } from '../../primitive/primitive-engine.ts';
import { checkTensorStorage } from '../../tensor/checks/check-storage.ts';
import type { DType } from '../../tensor/dtype/dtype.ts';
import type { Tensor, TensorDesc } from '../../tensor/tensor.ts';
import { engineKernels } from '../kernels/engine-kernels.ts';
import type { Kernels } from '../kernels/interface/kernels.ts';
import { allocateResident, isResident } from '../kernels/memory/resident-tensors.ts';
import type { Variant } from '../kernels/variant.ts';
import { bindCall, bindSteps, joinSteps } from '../steps/bound-steps.ts';
import type { Team } from '../team/team.ts';
import type { KernelPrimitive } from './kernel-primitive.ts';
import { prepareMap } from './map.ts';
import { prepareMatMul } from './products/matmul.ts';
import { prepareRandom } from './random.ts';
import { prepareReduce } from './reduce.ts';
import { prepareScatterAdd } from './scatter-add.ts';
import { prepareSoftmax } from './softmax.ts';

/**
 * The primitives of the CPU engine. Its kernels compute them in f32; primitives that the kernels lack,
 * and all primitives if there is no WebAssembly, are computed in f64 as by any host engine.
 */
export function cpuPrimitives(variant: Variant, team: Team | null = null): Primitives<Tensor> {
  return {
    ...hostPrimitives,
    allocate: desc => allocateResident(variant, desc),
    join: works => joinSteps(variant, works),
    prepare(primitive, inputs, outputs) {
      const onHost = hostPrimitives.prepare(primitive, inputs, outputs);
      const own = prepareOnKernels(primitive, inputs, outputs);
      const runOn = (kernels: Kernels, from: readonly Tensor[], to: readonly Tensor[]): void => {
        if (!own?.run(kernels, from, to, team)) onHost.run(from, to);
      };
      return {
        ...onHost,
        run(from, to) {
          checkTensors(from, to);
          if (own) engineKernels.withKernels(variant, kernels => runOn(kernels, from, to));
          else onHost.run(from, to);
        },
        bind(from, to) {
          checkTensors(from, to);
          const steps = [...from, ...to].every(tensor => isResident(variant, tensor)) ? own?.steps : null;
          const bound = steps && bindSteps(variant, team, kernels => steps(kernels, from, to));
          return bound ?? bindCall(variant, kernels => runOn(kernels, from, to));
        },
      };
    },
  };
}

/** Prepares a primitive to run on kernels; null if they cannot run it. */
function prepareOnKernels(
  primitive: Primitive,
  inputs: readonly TensorDesc[],
  outputs: readonly TensorDesc[],
): KernelPrimitive | null {
  const areFloats = [...inputs, ...outputs].every(isFloat);
  switch (primitive.kind) {
    case 'matmul':
      return areFloats && inputs.length === 2 && !primitive.result ? prepareMatMul(inputs, outputs[0]) : null;
    case 'softmax':
      return areFloats ? prepareSoftmax(primitive, inputs, outputs) : null;
    case 'map':
      return prepareMap(primitive, inputs, outputs[0]);
    case 'reduce':
      return prepareReduce(primitive, inputs, outputs[0]);
    case 'random':
      return prepareRandom(primitive, outputs[0]);
    case 'scatter-add':
      return [inputs[1], outputs[0]].every(isFloat) ? prepareScatterAdd(inputs, outputs[0]) : null;
    default:
      return null;
  }
}

/** @throws InvalidArgumentError for a tensor that was released, or whose buffer was transferred. */
function checkTensors(inputs: readonly Tensor[], outputs: readonly Tensor[]): void {
  // The array of such a tensor has no elements. A check of every tensor would take as long as a short
  // operation.
  for (const tensor of inputs) if (tensor.data.length === 0) checkTensorStorage('input', tensor);
  for (const tensor of outputs) if (tensor.data.length === 0) checkTensorStorage('output', tensor);
}

const floats: readonly DType[] = ['f32', 'f16', 'bf16'];

function isFloat({ dtype }: TensorDesc): boolean {
  return floats.includes(dtype);
}
