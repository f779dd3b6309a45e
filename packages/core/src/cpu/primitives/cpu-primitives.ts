import { hostPrimitives } from '../../primitive/host/host-primitives.ts';
import type { Primitive } from '../../primitive/primitive.ts';
import type { Primitives } from '../../primitive/primitive-engine.ts';
import type { DType } from '../../tensor/dtype.ts';
import type { Tensor, TensorDesc } from '../../tensor/tensor.ts';
import { withKernels } from '../kernels/host-kernels.ts';
import type { Kernels, LineKernels, Variant } from '../kernels/kernels.ts';
import { planLines } from './line-program.ts';
import { runMap } from './map.ts';
import { runMatMul } from './matmul.ts';
import { runReduce } from './reduce.ts';
import { runSoftmax } from './softmax.ts';

/** Runs a primitive on kernels whose memory it may use. */
type RunOnKernels = (
  kernels: Kernels,
  lines: LineKernels,
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
) => void;

/**
 * The plain operations of the CPU engine: by its kernels, in f32, where the tensors are floats; all else, and
 * all of it where there is no WebAssembly, as on any host, in f64.
 */
export function cpuPrimitives(variant: Variant): Primitives<Tensor> {
  return {
    ...hostPrimitives,
    prepare(primitive, inputs, outputs) {
      const onHost = hostPrimitives.prepare(primitive, inputs, outputs);
      const run = onKernels(primitive, inputs, outputs);
      if (!run) return onHost;
      return {
        ...onHost,
        run: (from, to) =>
          withKernels(variant, kernels => {
            if (kernels.lines) run(kernels, kernels.lines, from, to);
            else onHost.run(from, to);
          }),
      };
    },
  };
}

/** How kernels run a primitive; null where they do not. */
function onKernels(
  primitive: Primitive,
  inputs: readonly TensorDesc[],
  outputs: readonly TensorDesc[],
): RunOnKernels | null {
  const areFloats = [...inputs, ...outputs].every(isFloat);
  switch (primitive.kind) {
    case 'matmul':
      return areFloats ? (kernels, _lines, from, [c]) => runMatMul(kernels, from, c) : null;
    case 'softmax':
      return areFloats ? (kernels, _lines, from, to) => runSoftmax(primitive, kernels, from, to) : null;
    case 'map': {
      const plan = planLines(primitive.value, inputs);
      // Copies move no numbers through f32.
      if (!plan || primitive.value.kind === 'load' || !outputs.every(isFloat)) return null;
      return (kernels, lines, from, [to]) => runMap(plan, kernels, lines, from, to);
    }
    case 'reduce': {
      const { op } = primitive;
      const plan = planLines(primitive.element, inputs);
      if (!plan || op === 'prod') return null;
      return (kernels, lines, from, [to]) => runReduce(plan, op, primitive, kernels, lines, from, to);
    }
    default:
      return null;
  }
}

const floats: readonly DType[] = ['f32', 'f16', 'bf16'];

function isFloat({ dtype }: TensorDesc): boolean {
  return floats.includes(dtype);
}
