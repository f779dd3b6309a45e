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
import { beginPass, type ComputePass } from '../../device/compute-pass.ts';
import { touch } from '../../device/gpu-work.ts';
import { workQueue } from '../../device/work-queue.ts';
import type { GpuMemory } from '../gpu-memory.ts';
import { type BoundTensor, bindTensor, checkAliasing, shareResults } from './bind.ts';
import type { KernelPlan, PlanParts, PlanRun } from './kernel-plan.ts';
import { ParameterBuffers } from './parameter-buffers.ts';
import { compile, compileAsync, isCompiled } from './pipelines.ts';
import { type PlanLayout, planLayout, tensorBytes } from './plan-layout.ts';
import { rangesOf, type Slices, sameSlices } from './plan-slices.ts';
import {
  type BufferSlice,
  checkedSlice,
  type PlanBuffer,
  type PlanTensor,
  sliceFor,
} from './plan-tensors.ts';

/** One dispatch of a plan. */
interface Step {
  readonly kernel: KernelSpec;
  readonly split: DispatchSplit;
  readonly parameters: ParameterBuffers;
}

/** A dispatch with the buffers of one encode. */
interface Call extends Step {
  /** `skipped` counts from the start of the tensor: it is negative where a split starts further on. */
  readonly bound: readonly BoundTensor[];
  /** The bind group of the last encode, and its parameters. */
  last?: { readonly parameters: GPUBufferBinding; readonly group: GPUBindGroup };
}

/** Slices on which a plan ran, and its dispatches on them. */
interface Prepared {
  readonly slices: Slices;
  readonly calls: readonly Call[];
  readonly buffers: readonly GPUBuffer[];
  readonly read: readonly ByteRange[];
  readonly written: readonly ByteRange[];
}

/** How many sets of buffers a plan remembers: pools hand the same buffers out in turn. */
const maxPrepared = 4;

/**
 * Makes the plan of some kernels. Where a tensor is larger than one binding may be, its kernel is dispatched
 * in splits.
 * @throws UnsupportedError when even one workgroup touches more of a tensor than the device binds.
 */
export function makeKernelPlan<Options>(memory: GpuMemory, parts: PlanParts<Options>): KernelPlan<Options> {
  return new DevicePlan(memory, parts);
}

class DevicePlan<Options> implements KernelPlan<Options> {
  readonly kernels: readonly KernelSpec[];
  readonly tensors: readonly PlanTensor[];
  readonly workspaceBytes: number;
  readonly #memory: GpuMemory;
  readonly #parts: PlanParts<Options>;
  readonly #layout: PlanLayout;
  readonly #limit: BindingLimit;
  readonly #steps: readonly Step[];
  /** Dispatches for slices whose rounding makes a binding too large; made when such slices first come. */
  #narrowSteps: readonly Step[] | undefined;
  #isDestroyed = false;
  /** The slices of the last runs, the newest first. */
  readonly #prepared: Prepared[] = [];
  readonly #placeholders = new Map<string, GPUBuffer>();

  constructor(memory: GpuMemory, parts: PlanParts<Options>) {
    const { capabilities } = memory;
    this.#memory = memory;
    this.#parts = parts;
    this.#limit = bindingLimit(capabilities);
    this.#layout = planLayout(parts, capabilities.minStorageBufferOffsetAlignment);
    this.kernels = this.#layout.kernels;
    this.tensors = this.#layout.tensors.filter(({ name }) => name !== 'workspace');
    this.workspaceBytes = this.#layout.workspaceBytes;
    this.#steps = this.#stepsWithin(this.#limit);
  }

  encode(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    buffers: Readonly<Record<string, PlanBuffer>>,
    options?: Options,
  ): void {
    checkKind('target', target, 'a GPUCommandEncoder or GPUComputePassEncoder');
    const run = this.prepare(buffers, options);
    workQueue(this.#memory.device).demandUnused(run.buffers);
    const pass = 'dispatchWorkgroups' in target ? target : beginPass(target, this.#memory.trace);
    run.encode(pass);
    if (pass !== target) pass.end();
  }

  prepare(buffers: Readonly<Record<string, PlanBuffer>>, options?: Options): PlanRun {
    this.#memory.checkAlive();
    checkObject('buffers', buffers);
    if (options !== undefined) checkObject('options', options);
    const inputs = this.#parts.inputs?.(options) ?? {};
    const { slices, calls, read, ...prepared } = this.#preparedOn(this.#checkedSlices(buffers));
    const { written } = prepared;
    const { device } = this.#memory;
    return {
      ...prepared,
      isCompiled: calls.every(({ kernel }) => isCompiled(device, kernel)),
      compile: async () => {
        await Promise.all(calls.map(({ kernel }) => compileAsync(device, kernel)));
      },
      encode: pass => {
        for (const call of calls) this.#dispatch(pass, call, slices, inputs);
        touch(read, written);
      },
    };
  }

  get isCompiled(): boolean {
    return this.#likely.every(kernel => isCompiled(this.#memory.device, kernel));
  }

  async warmUp(): Promise<void> {
    this.#memory.checkAlive();
    await Promise.all(this.#likely.map(kernel => compileAsync(this.#memory.device, kernel)));
    this.#memory.checkAlive();
  }

  retire(): void {
    // A run that was prepared before the plan was destroyed may have been submitted since.
    if (this.#isDestroyed) this.destroy();
    for (const { parameters } of this.#allSteps()) parameters.retire();
  }

  destroy(): void {
    this.#isDestroyed = true;
    for (const { parameters } of this.#allSteps()) parameters.destroy();
    for (const buffer of this.#placeholders.values()) this.#memory.discard(buffer);
    this.#placeholders.clear();
    this.#prepared.length = 0;
  }

  /**
   * The kernels that run on most buffers: fallbacks among them only where results are made to share a buffer.
   */
  get #likely(): readonly KernelSpec[] {
    return this.kernels.flatMap(kernel =>
      kernel.aliasFallback?.interleaved ? withFallbacks([kernel]) : [kernel],
    );
  }

  #allSteps(): readonly Step[] {
    return [...this.#steps, ...(this.#narrowSteps ?? [])];
  }

  #stepsWithin(limit: BindingLimit): Step[] {
    const { all, spans } = this.#layout;
    return all
      .filter(({ groups }) => groups > 0)
      .flatMap(kernel =>
        splitsOrThrow(kernel, spans, this.#parts.footprints ?? {}, limit).map(split => {
          return { kernel, split, parameters: new ParameterBuffers(this.#memory) };
        }),
      );
  }

  #checkedSlices(buffers: Readonly<Record<string, PlanBuffer>>): Slices {
    const { tensors } = this.#layout;
    return new Map(
      tensors.map(tensor => {
        const expected = this.#parts.expected?.[tensor.name];
        return [tensor.name, checkedSlice(this.#memory, tensor, buffers, tensors, expected)];
      }),
    );
  }

  /** The dispatches on these slices, those of an earlier run on the same slices if they are remembered. */
  #preparedOn(slices: Slices): Prepared {
    const known = this.#prepared.findIndex(each => sameSlices(each.slices, slices));
    const prepared =
      known >= 0
        ? this.#prepared.splice(known, 1)[0]
        : {
            slices,
            calls: this.#callsOn(slices),
            buffers: [...slices.values()].map(({ buffer }) => buffer),
            read: rangesOf(this.#layout.read, slices),
            written: rangesOf(this.#layout.written, slices),
          };
    this.#prepared.unshift(prepared);
    this.#prepared.length = Math.min(this.#prepared.length, maxPrepared);
    return prepared;
  }

  /**
   * The dispatches on these buffers, in narrower splits where rounding makes a binding larger than the device
   * allows.
   */
  #callsOn(slices: Slices): readonly Call[] {
    const calls = this.#callsOf(slices, this.#steps);
    const { bytes, slack } = this.#limit;
    if (!calls.some(({ bound }) => bound.some(({ resource }) => resource.size > bytes))) return calls;
    this.#narrowSteps ??= this.#stepsWithin({ bytes: bytes - slack, slack: 0 });
    return this.#callsOf(slices, this.#narrowSteps);
  }

  #callsOf(slices: Slices, steps: readonly Step[]): Call[] {
    const running = this.#kernelsOn(slices);
    return steps
      .filter(({ kernel }) => running.has(kernel))
      .map(step => {
        const { kernel, split } = step;
        const bound = kernel.bindings.map(binding =>
          this.#bind(slices, binding, split.windows.get(binding.name) ?? [0, 0]),
        );
        checkAliasing(kernel, bound);
        return { ...step, bound };
      });
  }

  /** The kernels that run on these buffers: the fallbacks where results share a buffer. */
  #kernelsOn(slices: Slices): ReadonlySet<KernelSpec> {
    const chosen = this.kernels.flatMap(kernel => {
      const { aliasFallback, bindings } = kernel;
      if (!aliasFallback) return [kernel];
      const results = bindings
        .filter(({ access }) => access === 'read_write')
        .map(binding => this.#bind(slices, binding, [0, this.#layout.spans[binding.name] ?? 0]));
      return shareResults(results, aliasFallback) ? aliasFallback.kernels : [kernel];
    });
    return new Set(chosen);
  }

  /** Binds elements [from, to) of a tensor. */
  #bind(slices: Slices, binding: StorageBinding, [from, to]: readonly [number, number]): BoundTensor {
    const alignment = this.#memory.capabilities.minStorageBufferOffsetAlignment;
    const { elementBytes } = binding;
    const name = tensorOf(binding);
    const isEmpty = tensorBytes(this.#layout, binding) === 0;
    const given = isEmpty ? this.#placeholder(name) : sliceFor(slices, name);
    const region = (given.offset ?? 0) + (this.#layout.regions.get(name) ?? 0);
    const begin = isEmpty ? 0 : region + from * elementBytes;
    // An empty segment, like an empty tensor, may start at the very end of its buffer, where nothing can be
    // bound.
    const canBind = begin < given.buffer.size || begin % alignment > 0;
    const { buffer } = canBind ? given : this.#placeholder(name);
    const start = canBind ? begin : 0;
    const own = bindTensor(binding, buffer, start, (to - from) * elementBytes, alignment);
    return { ...own, skipped: own.skipped - from * elementBytes };
  }

  #placeholder(name: string): BufferSlice {
    const buffer = this.#placeholders.get(name) ?? this.#memory.takeBuffer(16);
    this.#placeholders.set(name, buffer);
    return { buffer };
  }

  #dispatch(pass: ComputePass, call: Call, slices: Slices, inputs: Readonly<Record<string, number>>): void {
    const { device } = this.#memory;
    const { kernel, split, parameters, bound } = call;
    const { pipeline, layout } = compile(device, kernel);
    const uniforms = packUniforms(kernel.uniforms, value => this.#resolve(value, call, slices, inputs));
    const own = parameters.get(uniforms);
    if (call.last?.parameters !== own) {
      const resources = [own, ...bound.map(({ resource }) => resource)];
      const entries = resources.map((resource, binding) => ({ binding, resource }));
      const group = device.createBindGroup({ label: kernel.name, layout, entries });
      call.last = { parameters: own, group };
    }
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, call.last.group);
    pass.dispatchWorkgroups(...dispatchSize(split.end - split.first));
  }

  #resolve(
    value: EncodeTimeValue,
    { kernel, split, bound }: Call,
    slices: Slices,
    inputs: Readonly<Record<string, number>>,
  ): number {
    if ('input' in value) return inputs[value.input] ?? 0;
    if ('dispatch' in value) return split[value.dispatch];
    const ownOf = (name: string): BoundTensor | undefined =>
      bound.find(({ binding }) => binding.name === name);
    if ('wordOf' in value) return Math.floor((ownOf(value.wordOf)?.skipped ?? 0) / 4);
    const name = value.offsetOf;
    const gathered = kernel.gathered.find(binding => binding.name === name);
    if (!gathered) {
      const own = ownOf(name);
      return own ? own.skipped / own.binding.elementBytes : 0;
    }
    // Gathering copies whole words, so the tensor starts as far into its first word as it does in its own
    // buffer.
    const first = (ownOf(gatheredTensor)?.skipped ?? 0) + 4 * (this.#layout.words.get(name) ?? 0);
    return (first + ((slices.get(name)?.offset ?? 0) % 4)) / gathered.elementBytes;
  }
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
