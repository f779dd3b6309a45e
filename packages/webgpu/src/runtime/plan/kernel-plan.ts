import { UnsupportedError } from '@tilewise/core';
import { checkObject } from '@tilewise/philox/errors';
import {
  type BindingLimit,
  bindingLimit,
  type DispatchSplit,
  dispatchSplits,
  type TensorFootprint,
  tooLargeReason,
} from '../../codegen/dispatch-splits.ts';
import { withGathering } from '../../codegen/gather.ts';
import { dispatchSize, type KernelSpec, withFallbacks } from '../../codegen/kernel-spec.ts';
import {
  type EncodeTimeValue,
  gatheredTensor,
  packUniforms,
  type StorageBinding,
  tensorOf,
} from '../../codegen/shader-part.ts';
import type { ByteRange } from '../../device/byte-range.ts';
import { checkKind } from '../../device/check-kind.ts';
import { touch } from '../../device/gpu-work.ts';
import type { GpuMemory } from '../gpu-memory.ts';
import { type BoundTensor, bindTensor, checkAliasing, shareResults } from './bind.ts';
import { ParameterBuffers } from './parameter-buffers.ts';
import { compile, compileAsync } from './pipelines.ts';
import {
  type BufferSlice,
  checkedSlice,
  type ExpectedTensor,
  layWorkspace,
  type PlanBuffer,
  type PlanTensor,
  planTensors,
  sliceFor,
  tensorsRead,
} from './plan-tensors.ts';

/**
 * Kernels on one device, ready to be recorded any number of times. Nothing is submitted, mapped or allocated for tensors; the
 * parameters of a call lie in a small uniform buffer per dispatch, made anew only when they change. `Options` are numbers that
 * may change from one encode to the next.
 */
export interface KernelPlan<Options> {
  /** What `encode` needs, by name, besides the workspace. */
  readonly tensors: readonly PlanTensor[];
  /** Bytes of the buffer to pass as `workspace`; 0 when none is needed. Its content need not be kept. */
  readonly workspaceBytes: number;
  /** The kernels in order, with their source; those first that gather small tensors for crowded ones. */
  readonly kernels: readonly KernelSpec[];
  /**
   * Records the work.
   * @throws InvalidArgumentError or InvalidShapeError naming a buffer that is missing, too small or misaligned, or an option
   * that is no number of its range; for a GpuTensor also, or InvalidDTypeError, when it is not what the problem says.
   */
  encode(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    buffers: Readonly<Record<string, PlanBuffer>>,
    options?: Options,
  ): void;
  /**
   * Compiles all kernels in the background. Without it the first `encode` compiles.
   * Rejects with a TilewiseError when the device does not compile one.
   */
  warmUp(): Promise<void>;
  /** Frees the parameters of all recorded calls but the last; they must have been submitted. */
  retire(): void;
  /** Frees the parameters of all recorded calls; they must have been submitted. */
  destroy(): void;
}

/** What decides whether a plan can run. */
export interface KernelParts {
  readonly kernels: readonly KernelSpec[];
  /** How many elements each tensor takes in memory, by name. */
  readonly spans: Readonly<Record<string, number>>;
  /** What workgroups touch of a tensor, for those that may be bound in pieces. */
  readonly footprints?: Readonly<Record<string, TensorFootprint>>;
}

/** What a plan is made of. */
export interface PlanParts<Options> extends KernelParts {
  /** What a GpuTensor that is passed for a tensor must be, by name. */
  readonly expected?: Readonly<Record<string, ExpectedTensor>>;
  /** The values of the uniforms that an encode sets. */
  readonly inputs?: (options: Options | undefined) => Readonly<Record<string, number>>;
}

/**
 * The plan of some kernels. A tensor of which a device binds only a part is bound in pieces: the kernel is dispatched for some of
 * its workgroups at a time.
 * @throws UnsupportedError when even one workgroup touches more of a tensor than the device binds.
 */
export function makeKernelPlan<Options>(
  ctx: GpuMemory,
  {
    kernels: made,
    spans: elements,
    footprints = {},
    expected = {},
    inputs: inputsOf = () => ({}),
  }: PlanParts<Options>,
): KernelPlan<Options> {
  const { device, capabilities } = ctx;
  const limit = bindingLimit(capabilities);
  const coarse = capabilities.minStorageBufferOffsetAlignment;
  const { kernels, spans, words } = withGathering(made, elements);
  const bytesOf = (binding: StorageBinding): number => (spans[tensorOf(binding)] ?? 0) * binding.elementBytes;
  const all = withFallbacks(kernels);
  const workspace = layWorkspace(all, bytesOf, coarse);
  const tensors = planTensors(all, bytesOf, workspace.bytes).filter(
    // A workspace of empty regions is none.
    ({ name, bytes }) => name !== 'workspace' || bytes > 0,
  );
  const names = tensorsRead(all);
  const read = tensors.filter(({ name }) => names.has(name));
  const written = tensors.filter(({ access }) => access === 'read_write');
  const stepsOf = (atMost: BindingLimit): Step[] =>
    all
      .filter(({ groups }) => groups > 0)
      .flatMap(kernel =>
        splitsOrThrow(kernel, spans, footprints, atMost).map(split => {
          return { kernel, split, parameters: new ParameterBuffers(ctx) };
        }),
      );
  const steps = stepsOf(limit);
  // Tensors that fit, but not where their slices start, make their kernels run in splits as well.
  let narrow: Step[] | undefined;
  const allSteps = (): Step[] => [...steps, ...(narrow ?? [])];
  const placeholders = new Map<string, GPUBuffer>();
  const placeholder = (name: string): BufferSlice => {
    const buffer = placeholders.get(name) ?? ctx.takeBuffer(16);
    placeholders.set(name, buffer);
    return { buffer };
  };

  /** Binds elements [from, to) of a tensor. */
  function bind(
    slices: ReadonlyMap<string, BufferSlice>,
    binding: StorageBinding,
    [from, to]: readonly [number, number],
  ): BoundTensor {
    const { elementBytes } = binding;
    const name = tensorOf(binding);
    const isEmpty = bytesOf(binding) === 0;
    const given = isEmpty ? placeholder(name) : sliceFor(slices, name);
    const region = (given.offset ?? 0) + (workspace.starts.get(name) ?? 0);
    const begin = isEmpty ? 0 : region + from * elementBytes;
    // An empty segment may lie at the very end of its buffer, as an empty tensor may, where nothing can be bound.
    const isThere = begin < given.buffer.size || begin % coarse > 0;
    const { buffer } = isThere ? given : placeholder(name);
    const start = isThere ? begin : 0;
    const own = bindTensor(binding, buffer, start, (to - from) * elementBytes, coarse);
    return { ...own, skipped: own.skipped - from * elementBytes };
  }

  /** The kernels that run on these buffers. */
  function running(slices: ReadonlyMap<string, BufferSlice>): ReadonlySet<KernelSpec> {
    const chosen = kernels.flatMap(kernel => {
      if (!kernel.aliasFallback) return [kernel];
      const written = kernel.bindings.filter(({ access }) => access === 'read_write');
      const results = written.map(binding => bind(slices, binding, [0, spans[binding.name] ?? 0]));
      return shareResults(results, kernel.aliasFallback) ? kernel.aliasFallback.kernels : [kernel];
    });
    return new Set(chosen);
  }

  function callsOf(slices: ReadonlyMap<string, BufferSlice>, steps: readonly Step[]): Call[] {
    const chosen = running(slices);
    return steps
      .filter(({ kernel }) => chosen.has(kernel))
      .map(step => {
        const { kernel, split } = step;
        const bound = kernel.bindings.map(binding =>
          bind(slices, binding, split.windows.get(binding.name) ?? [0, 0]),
        );
        checkAliasing(kernel, bound);
        return { ...step, bound };
      });
  }

  return {
    kernels,
    tensors: tensors.filter(({ name }) => name !== 'workspace'),
    workspaceBytes: workspace.bytes,
    encode(target, buffers, options) {
      ctx.checkAlive();
      checkKind('target', target, 'a GPUCommandEncoder or GPUComputePassEncoder');
      checkObject('buffers', buffers);
      if (options !== undefined) checkObject('options', options);
      const inputs = inputsOf(options);
      const slices = new Map(
        tensors.map(tensor => {
          const { name } = tensor;
          return [name, checkedSlice(ctx, tensor, buffers, tensors, expected[name])];
        }),
      );
      let calls = callsOf(slices, steps);
      if (calls.some(({ bound }) => bound.some(({ resource }) => resource.size > limit.bytes))) {
        narrow ??= stepsOf({ bytes: limit.bytes - limit.slack, slack: 0 });
        calls = callsOf(slices, narrow);
      }
      const pass = 'dispatchWorkgroups' in target ? target : target.beginComputePass({ label: 'tilewise' });
      for (const { kernel, split, parameters, bound } of calls) {
        const { pipeline, layout } = compile(device, kernel);
        const skipped = (name: string): number =>
          bound.find(({ binding }) => binding.name === name)?.skipped ?? 0;
        const resolve = (value: EncodeTimeValue): number => {
          if ('input' in value) return inputs[value.input] ?? 0;
          if ('dispatch' in value) return split[value.dispatch];
          if ('wordOf' in value) return Math.floor(skipped(value.wordOf) / 4);
          const name = value.offsetOf;
          const tensor = kernel.gathered.find(gathered => gathered.name === name);
          if (!tensor) {
            const own = bound.find(({ binding }) => binding.name === name);
            return own ? own.skipped / own.binding.elementBytes : 0;
          }
          // Its words were copied as they are, so it starts as far into the first one as it did.
          const first = skipped(gatheredTensor) + 4 * (words.get(name) ?? 0);
          return (first + ((slices.get(name)?.offset ?? 0) % 4)) / tensor.elementBytes;
        };
        const resources = [
          parameters.get(packUniforms(kernel.uniforms, resolve)),
          ...bound.map(({ resource }) => resource),
        ];
        pass.setPipeline(pipeline);
        pass.setBindGroup(
          0,
          device.createBindGroup({
            label: kernel.name,
            layout,
            entries: resources.map((resource, binding) => ({ binding, resource })),
          }),
        );
        pass.dispatchWorkgroups(...dispatchSize(split.end - split.first));
      }
      if (pass !== target) pass.end();
      const ranges = (those: readonly PlanTensor[]): ByteRange[] =>
        those.map(({ name, bytes }) => {
          const { buffer, offset = 0 } = sliceFor(slices, name);
          return { buffer, offset, size: bytes };
        });
      touch(ranges(read), ranges(written));
    },
    async warmUp() {
      ctx.checkAlive();
      const likely = kernels.flatMap(kernel =>
        kernel.aliasFallback?.interleaved ? withFallbacks([kernel]) : [kernel],
      );
      await Promise.all(likely.map(kernel => compileAsync(device, kernel)));
    },
    retire() {
      for (const { parameters } of allSteps()) parameters.retire();
    },
    destroy() {
      for (const { parameters } of allSteps()) parameters.destroy();
      for (const buffer of placeholders.values()) ctx.discard(buffer);
      placeholders.clear();
    },
  };
}

/** One dispatch. */
interface Step {
  readonly kernel: KernelSpec;
  readonly split: DispatchSplit;
  readonly parameters: ParameterBuffers;
}

/** The same on the buffers of one encode. */
interface Call extends Step {
  /** `skipped` counts from the start of the tensor, so it is negative where a window starts further on. */
  readonly bound: readonly BoundTensor[];
}

function splitsOrThrow(
  kernel: KernelSpec,
  spans: Readonly<Record<string, number>>,
  footprints: Readonly<Record<string, TensorFootprint>>,
  limit: BindingLimit,
): readonly DispatchSplit[] {
  const splits = dispatchSplits(kernel, spans, footprints, limit);
  if (typeof splits !== 'string') return splits;
  throw new UnsupportedError('webgpu', [tooLargeReason(kernel, splits, limit)]);
}
