import { dtypeInfo, elementsSpanned, type TensorDesc } from '@tilewise/core';
import {
  canOverwrite,
  checkPrimitive,
  inputName,
  type Primitive,
  type Primitives,
} from '@tilewise/core/primitive';
import { boundForWriting, type KernelParts } from '../../codegen/kernel-spec.ts';
import { isLost } from '../../device/gpu-work.ts';
import { demandSupport, support } from '../../device/support.ts';
import { byName, type InPlaceNames, outputName } from '../../primitive/access/primitive-tensors.ts';
import { kernelsOf } from '../../primitive/kernels-of.ts';
import type { GpuContext } from '../../runtime/context.ts';
import type { joinedWork } from '../../runtime/joined/joined-work.ts';
import type { KernelMemo } from '../../runtime/kernel-memo.ts';
import type { GpuTensor } from '../../runtime/memory/gpu-tensor.ts';
import { type RecordedWork, recordedPlans } from '../../runtime/recorded-plans.ts';
import type { Recorder } from '../../runtime/recorder.ts';

/**
 * The primitives on a context's device.
 * @param memo remembers kernels.
 */
export function gpuPrimitives(ctx: GpuContext, recorder: Recorder, memo: KernelMemo): Primitives<GpuTensor> {
  const { capabilities, tileKinds, modules } = ctx;
  /** The kernels of a primitive, with the sizes of their tensors by name. */
  const partsOf = (
    primitive: Primitive,
    inputs: readonly TensorDesc[],
    outputs: readonly TensorDesc[],
    unaligned: readonly string[] = [],
    inPlace: InPlaceNames = {},
  ): KernelParts => {
    const layouts = byName(inputs, outputs, ({ dtype, shape, strides }) => [dtype, shape, strides]);
    return memo([primitive, layouts, unaligned, inPlace], () => {
      const tensors = { inputs, outputs, unaligned: new Set(unaligned), inPlace, capabilities };
      const made = kernelsOf(primitive, tensors, tileKinds.matmulTiles);
      const { footprints, workspace } = made;
      const spans = { ...byName(inputs, outputs, elementsSpanned), ...workspace };
      const kernels = made.kernels.map(
        kernel => modules.largeTensors?.(() => kernel, { spans, footprints }, capabilities) ?? kernel,
      );
      return { kernels, footprints, spans };
    });
  };
  const checkSupport: Primitives<GpuTensor>['checkSupport'] = (primitive, inputs, outputs) => {
    const unfit = tensorReasons(primitive, inputs, outputs);
    if (unfit.length > 0) return support(unfit);
    return support(ctx.planReasons(partsOf(primitive, inputs, outputs)));
  };
  let joined: typeof joinedWork | Promise<void> | undefined;
  return {
    checkSupport,
    join(works) {
      // A trace times single kernels.
      if (ctx.trace) return null;
      // The code is loaded when work first recurs.
      joined ??= import('../../runtime/joined/joined-work.ts').then(
        module => {
          joined = module.joinedWork;
        },
        () => {},
      );
      return typeof joined === 'function' ? joined(ctx, recorder, works as RecordedWork[]) : null;
    },
    prepare(primitive, inputs, outputs) {
      checkPrimitive(primitive, inputs, outputs);
      demandSupport(checkSupport(primitive, inputs, outputs).reasons);
      // For other pairs, a plan refuses an input that shares memory with an output.
      const pairs = inputs.flatMap((_, n) =>
        outputs.flatMap((to, m) =>
          canOverwrite(primitive, inputs, n, to) ? [[inputName(n), outputName(m)] as const] : [],
        ),
      );
      const plans = recordedPlans(
        recorder,
        ({ unaligned, shared, inPlace }) => {
          const parts = partsOf(primitive, inputs, outputs, unaligned, Object.fromEntries(inPlace));
          return ctx.plan({ ...parts, kernels: parts.kernels.map(own => boundForWriting(own, shared)) });
        },
        { pairs, argumentOf: byName(inputs, outputs, (_, argument) => argument) },
      );
      const named = (from: readonly GpuTensor[], to: readonly GpuTensor[]) =>
        byName(from, to, (tensor, argument) => ctx.checkOwn(argument, tensor));
      return {
        workspaceBytes: plans.workspaceBytes,
        run: (from, to, workspace) => plans.run(named(from, to), workspace),
        bind: (from, to, workspace) => plans.bind(named(from, to), workspace),
        release: () => plans.release(),
      };
    },
    allocate: ({ dtype, shape, strides }) => ctx.allocate(shape, dtype, strides),
    isLost: ({ buffer }) => isLost(buffer),
    view: (tensor, desc) => ctx.view(tensor, desc),
    placeOf(tensor, argument = 'tensor') {
      const { buffer, byteOffset } = ctx.checkOwn(argument, tensor);
      return { memory: buffer, byteOffset };
    },
  };
}

/** The reasons why tensors are unsupported, found before any kernel is made for them. */
function tensorReasons(
  primitive: Primitive,
  inputs: readonly TensorDesc[],
  outputs: readonly TensorDesc[],
): string[] {
  const matrices =
    primitive.kind === 'matmul' ? [...inputs.slice(0, 2 * (primitive.terms ?? 1)), ...outputs] : [];
  const other = matrices.find(({ dtype }) => dtypeInfo[dtype].kind !== 'float');
  const isLarge = [...inputs, ...outputs].some(tensor => elementsSpanned(tensor) >= 2 ** 32);
  return [
    ...(other ? [`matmul is supported for floats only, got a tensor of ${other.dtype}`] : []),
    ...(isLarge ? ['a tensor spans 2^32 elements or more'] : []),
  ];
}
