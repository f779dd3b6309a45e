import { UnsupportedError } from '@tilewise/core';
import type { OptionReaders } from '@tilewise/core/engine';
import { checkObject } from '@tilewise/philox/errors';
import {
  type BindingLimit,
  bindingLimit,
  dispatchSplits,
  tooLargeReason,
} from '../../codegen/binding-limits/dispatch-splits.ts';
import { dispatchSize, type KernelSpec, withFallbacks } from '../../codegen/kernel-spec.ts';
import { packUniforms, type StorageBinding } from '../../codegen/shader-part.ts';
import type { ByteRange } from '../../device/byte-range.ts';
import { type ComputePass, checkTarget, recordIn } from '../../device/compute-pass.ts';
import { touch } from '../../device/gpu-work.ts';
import { workQueue } from '../../device/work-queue.ts';
import type { GpuMemory } from '../memory/gpu-memory.ts';
import { checkAliasing, shareResults } from './aliasing.ts';
import { type BoundTensor, bindSlice } from './bind-slice.ts';
import { type BoundDispatch, type Dispatch, encodeTimeNumber, type PlanInputs } from './dispatch.ts';
import type { KernelPlan, PlanParts, PlanRun } from './kernel-plan.ts';
import { ParameterBuffers } from './parameter-buffers.ts';
import { areCompiled, compile, compileAll } from './pipelines.ts';
import { type PlanLayout, planLayout } from './plan-layout.ts';
import { isGivenAgain, rangesOf, type Slices } from './plan-slices.ts';
import {
  type BufferSlice,
  checkedSlice,
  type MeantFor,
  type PlanBuffer,
  type PlanTensor,
} from './plan-tensors.ts';

/** The slices on which a plan ran, and its dispatches on them. */
interface Prepared {
  /** The slices in the order of `tensorOrder`. */
  readonly given: readonly BufferSlice[];
  readonly slices: Slices;
  readonly calls: readonly BoundDispatch[];
  readonly kernels: readonly KernelSpec[];
  readonly buffers: readonly GPUBuffer[];
  readonly read: readonly ByteRange[];
  readonly written: readonly ByteRange[];
  /** Whether the kernels are known to be compiled, which they stay. */
  isCompiled: boolean;
}

/** The number of buffer sets that a plan remembers. A pool hands out the same few buffers in turn. */
const maxPrepared = 4;

/** A plan of kernels. If a tensor is larger than one binding may be, its kernel is dispatched in splits. */
export class DevicePlan<Options> implements KernelPlan<Options> {
  readonly kernels: readonly KernelSpec[];
  readonly tensors: readonly PlanTensor[];
  readonly tensorOrder: readonly string[];
  readonly workspaceBytes: number;
  readonly parts: PlanParts<Options>;
  readonly #memory: GpuMemory;
  readonly #nearestName: OptionReaders['nearestName'] | undefined;
  readonly #layout: PlanLayout;
  readonly #limit: BindingLimit;
  readonly #steps: readonly Dispatch[];
  /** Dispatches for slices whose rounding makes a binding too large. Made when such slices first occur. */
  #narrowSteps: readonly Dispatch[] | undefined;
  /** `#steps` and, once they are made, `#narrowSteps`. */
  readonly #allSteps: Dispatch[] = [];
  #isDestroyed = false;
  /** The slices of the most recent runs, the newest first. */
  readonly #prepared: Prepared[] = [];

  /** @throws UnsupportedError if a single workgroup touches more of a tensor than the device can bind. */
  constructor(memory: GpuMemory, parts: PlanParts<Options>, nearestName?: OptionReaders['nearestName']) {
    const { capabilities } = memory;
    this.#memory = memory;
    this.#nearestName = nearestName;
    this.parts = parts;
    this.#limit = bindingLimit(capabilities);
    this.#layout = planLayout(parts, capabilities.minStorageBufferOffsetAlignment);
    this.kernels = this.#layout.kernels;
    this.tensorOrder = this.#layout.tensors.map(({ name }) => name);
    this.tensors = this.#layout.tensors.filter(({ name }) => name !== 'workspace');
    this.workspaceBytes = this.#layout.workspaceBytes;
    this.#steps = this.#stepsWithin(this.#limit);
  }

  encode(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    buffers: Readonly<Record<string, PlanBuffer>>,
    options?: Options,
  ): void {
    checkTarget(target);
    const run = this.prepare(buffers, options);
    workQueue(this.#memory.device).demandUnused(run.buffers);
    recordIn(target, this.#memory.trace, run.encode);
  }

  prepare(buffers: Readonly<Record<string, PlanBuffer>>, options?: Options): PlanRun {
    this.#memory.checkAlive();
    checkObject('buffers', buffers);
    if (options !== undefined) checkObject('options', options);
    const inOrder = this.tensorOrder.map(name => buffers[name]);
    // Two plans may share a record of buffers, so a name that this plan does not bind need not be wrong.
    return this.prepareInOrder(inOrder, options, name =>
      this.#nearestName?.(
        name,
        Object.keys(buffers).filter(other => !this.tensorOrder.includes(other)),
      ),
    );
  }

  prepareInOrder(
    buffers: readonly (PlanBuffer | undefined)[],
    options?: Options,
    meantFor?: MeantFor,
  ): PlanRun {
    const inputs = this.parts.inputs?.(options);
    const prepared = this.#preparedOn(buffers, meantFor);
    const { slices, calls, kernels, read, written } = prepared;
    const { device } = this.#memory;
    const parametersOf = (call: BoundDispatch): ArrayBuffer =>
      packUniforms(call.kernel.uniforms, value =>
        encodeTimeNumber(value, call, this.#layout, slices, inputs),
      );
    return {
      ...{ buffers: prepared.buffers, read, written, calls, parametersOf },
      isCompiled() {
        prepared.isCompiled ||= areCompiled(device, kernels);
        return prepared.isCompiled;
      },
      compile: () => compileAll(device, kernels),
      encode: pass => {
        for (const call of calls) this.#dispatch(pass, call, inputs, parametersOf);
        touch(read, written);
      },
    };
  }

  get isCompiled(): boolean {
    return areCompiled(this.#memory.device, this.#likely);
  }

  async warmUp(): Promise<void> {
    this.#memory.checkAlive();
    await compileAll(this.#memory.device, this.#likely);
    this.#memory.checkAlive();
  }

  retire(): void {
    // A run that was prepared before the plan was destroyed may have been submitted since then.
    if (this.#isDestroyed) this.destroy();
    for (const { parameters } of this.#allSteps) parameters.retire();
  }

  destroy(): void {
    this.#isDestroyed = true;
    for (const { parameters } of this.#allSteps) parameters.destroy();
    this.#prepared.length = 0;
  }

  /**
   * The kernels that run on most buffers. Includes fallbacks only if results are expected to share a buffer.
   */
  get #likely(): readonly KernelSpec[] {
    return this.kernels.flatMap(kernel =>
      kernel.aliasFallback?.interleaved ? withFallbacks([kernel]) : [kernel],
    );
  }

  #stepsWithin(limit: BindingLimit): Dispatch[] {
    const running = this.#layout.all.filter(({ groups }) => groups > 0);
    const steps = running.flatMap(kernel => {
      const splits = dispatchSplits(kernel, this.#layout, limit);
      if (typeof splits === 'string')
        throw new UnsupportedError('webgpu', [tooLargeReason(kernel, splits, limit)]);
      return splits.map(split => ({ kernel, split, parameters: new ParameterBuffers(this.#memory) }));
    });
    this.#allSteps.push(...steps);
    return steps;
  }

  /**
   * The dispatches on these buffers; those of an earlier run on the same slices, if the plan remembers it.
   */
  #preparedOn(buffers: readonly (PlanBuffer | undefined)[], meantFor: MeantFor | undefined): Prepared {
    // Slices that have been checked once need no further checks.
    const known = this.#remembered(buffers);
    if (known) return known;
    const slices = this.#layout.tensors.map((tensor, n) =>
      checkedSlice(this.#memory, tensor, buffers[n], meantFor, this.parts.expected?.[tensor.name]),
    );
    const prepared = this.#remembered(slices) ?? this.#prepareOn(slices);
    if (this.#prepared[0] !== prepared) this.#prepared.unshift(prepared);
    this.#prepared.length = Math.min(this.#prepared.length, maxPrepared);
    return prepared;
  }

  #prepareOn(given: readonly BufferSlice[]): Prepared {
    const slices = new Map(given.map((slice, n) => [this.tensorOrder[n], slice]));
    const calls = this.#callsOn(slices);
    return {
      ...{ given, slices, calls, kernels: calls.map(({ kernel }) => kernel) },
      buffers: given.map(({ buffer }) => buffer),
      read: rangesOf(this.#layout.read, slices),
      written: rangesOf(this.#layout.written, slices),
      isCompiled: false,
    };
  }

  /** The remembered run on these slices, which becomes the newest; undefined if there is none. */
  #remembered(buffers: readonly (PlanBuffer | undefined)[]): Prepared | undefined {
    const at = this.#prepared.findIndex(({ given }) => isGivenAgain(given, buffers));
    if (at > 0) this.#prepared.unshift(...this.#prepared.splice(at, 1));
    return at < 0 ? undefined : this.#prepared[0];
  }

  /**
   * The dispatches on these buffers, in narrower splits if rounding makes a binding larger than the device
   * allows.
   */
  #callsOn(slices: Slices): readonly BoundDispatch[] {
    const calls = this.#callsOf(slices, this.#steps);
    const { bytes, slack } = this.#limit;
    if (!calls.some(({ bound }) => bound.some(({ resource }) => resource.size > bytes))) return calls;
    this.#narrowSteps ??= this.#stepsWithin({ bytes: bytes - slack, slack: 0 });
    return this.#callsOf(slices, this.#narrowSteps);
  }

  #callsOf(slices: Slices, steps: readonly Dispatch[]): BoundDispatch[] {
    const running = this.#kernelsOn(slices);
    // Plain operations may bind an input for writing that their kernels only read.
    const { expected } = this.parts;
    const earlier = expected && [];
    return steps
      .filter(({ kernel }) => running.has(kernel))
      .map(step => {
        const { kernel, split } = step;
        const bound = kernel.bindings.map(binding =>
          this.#bind(slices, binding, split.windows.get(binding.name) ?? [0, 0]),
        );
        checkAliasing(kernel, bound, earlier, expected);
        return { ...step, bound };
      });
  }

  /** The kernels that run on these buffers: the fallbacks if results share a buffer. */
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

  #bind(slices: Slices, binding: StorageBinding, elements: readonly [number, number]): BoundTensor {
    return bindSlice(this.#memory, this.#layout, slices, binding, elements);
  }

  #dispatch(
    pass: ComputePass,
    call: BoundDispatch,
    inputs: PlanInputs | undefined,
    parametersOf: PlanRun['parametersOf'],
  ): void {
    const { device } = this.#memory;
    const { kernel, split, parameters, bound } = call;
    call.compiled ??= compile(device, kernel);
    const { pipeline, layout } = call.compiled;
    let { last } = call;
    if (!last || last.parameters !== parameters.newest || last.inputs !== inputs) {
      const own = parameters.get(parametersOf(call));
      const resources = [own, ...bound.map(({ resource }) => resource)];
      const entries = resources.map((resource, binding) => ({ binding, resource }));
      const group =
        last?.parameters === own
          ? last.group
          : device.createBindGroup({ label: kernel.name, layout, entries });
      last = { parameters: own, inputs, group };
      call.last = last;
    }
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, last.group);
    pass.dispatchWorkgroups(...dispatchSize(split.end - split.first));
  }
}
