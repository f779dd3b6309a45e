import { dtypeInfo, type Support, type TensorDesc, UnsupportedError } from '@tilewise/core';
import {
  canOverwrite,
  checkPrimitive,
  inputName,
  type PreparedPrimitive,
  type Primitive,
  type Primitives,
} from '@tilewise/core/primitive';
import { boundForWriting } from '../codegen/kernel-spec.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { GpuTensor } from '../runtime/gpu-tensor.ts';
import type { KernelParts } from '../runtime/plan/plan-layout.ts';
import { recordedPlans } from '../runtime/recorded-plans.ts';
import type { Recorder } from '../runtime/recorder.ts';
import { spanOf, spansOf } from './access/tensor-access.ts';
import { kernelsOf } from './kernels-of.ts';
import { type InPlaceNames, outputName } from './primitive-kernels.ts';

/** The plain operations on a context's device. */
export function gpuPrimitives(ctx: GpuContext, recorder: Recorder): Primitives<GpuTensor> {
  return {
    checkSupport: (primitive, inputs, outputs) => checkSupport(ctx, primitive, inputs, outputs),
    prepare: (primitive, inputs, outputs) => prepare(ctx, recorder, primitive, inputs, outputs),
    allocate: ({ dtype, shape, strides }) => ctx.allocate(shape, dtype, strides),
    view: (tensor, desc) => ctx.view(tensor, desc),
    placeOf(tensor, argument = 'tensor') {
      const { buffer, byteOffset } = ctx.checkOwn(argument, tensor);
      return { memory: buffer, byteOffset };
    },
  };
}

function checkSupport(
  ctx: GpuContext,
  primitive: Primitive,
  inputs: readonly TensorDesc[],
  outputs: readonly TensorDesc[],
): Support {
  const unfit = tensorReasons(primitive, [...inputs, ...outputs]);
  const reasons =
    unfit.length > 0 ? unfit : ctx.planReasons(planParts(ctx, primitive, inputs, outputs, new Set()));
  return { supported: reasons.length === 0, reasons };
}

/** The reasons against tensors before any kernel is made for them. */
function tensorReasons(primitive: Primitive, tensors: readonly TensorDesc[]): string[] {
  const [a, b] = tensors;
  const whole = [a, b, tensors[tensors.length - 1]].find(({ dtype }) => dtypeInfo[dtype].kind !== 'float');
  return [
    ...(primitive.kind === 'matmul' && whole
      ? [`matmul is of floats, and has a tensor of ${whole.dtype}`]
      : []),
    ...(tensors.some(t => spanOf(t) >= 2 ** 32) ? ['a tensor spans 2^32 elements or more'] : []),
  ];
}

/** Kernels and what they run on, all tensors by name. */
function planParts(
  { capabilities }: GpuContext,
  primitive: Primitive,
  inputs: readonly TensorDesc[],
  outputs: readonly TensorDesc[],
  unaligned: ReadonlySet<string>,
  inPlace: InPlaceNames = {},
): KernelParts {
  const made = kernelsOf(primitive, { inputs, outputs, unaligned, capabilities, inPlace });
  return {
    kernels: made.kernels,
    spans: { ...spansOf({ inputs, outputs }), ...made.workspace },
    footprints: made.footprints,
  };
}

function prepare(
  ctx: GpuContext,
  recorder: Recorder,
  primitive: Primitive,
  inputs: readonly TensorDesc[],
  outputs: readonly TensorDesc[],
): PreparedPrimitive<GpuTensor> {
  checkPrimitive(primitive, inputs, outputs);
  const { supported, reasons } = checkSupport(ctx, primitive, inputs, outputs);
  if (!supported) throw new UnsupportedError('webgpu', reasons);
  // Where an input cannot be overwritten, a plan refuses that the input shares memory with an output.
  const pairs = inputs.flatMap((_, n) =>
    outputs.flatMap((to, m) =>
      canOverwrite(primitive, inputs, n, to) ? [[inputName(n), outputName(m)] as const] : [],
    ),
  );
  const plans = recordedPlans(
    recorder,
    (unaligned, shared, inPlace) => {
      const homes = Object.fromEntries(inPlace);
      const { kernels, ...parts } = planParts(ctx, primitive, inputs, outputs, new Set(unaligned), homes);
      return ctx.plan({ ...parts, kernels: kernels.map(kernel => boundForWriting(kernel, shared)) });
    },
    pairs,
  );
  return {
    workspaceBytes: plans.workspaceBytes,
    run(from, to, workspace) {
      const tensors = [
        ...from.map((tensor, n) => [inputName(n), ctx.checkOwn(`inputs[${n}]`, tensor)] as const),
        ...to.map((tensor, n) => [outputName(n), ctx.checkOwn(`outputs[${n}]`, tensor)] as const),
      ];
      plans.run(Object.fromEntries(tensors), workspace);
    },
    release: () => plans.release(),
  };
}
