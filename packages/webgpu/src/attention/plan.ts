import {
  type AttentionProblem,
  type BackwardProblem,
  InvalidArgumentError,
  InvalidShapeError,
  type Support,
  type U64Words,
  UnsupportedError,
  validate,
} from '@tilewise/core';
import { bufferUsage } from '../device/constants.ts';
import type { GpuContext } from '../device/context.ts';
import { compile, compileAsync } from '../device/pipelines.ts';
import type { KernelSpec } from '../kernel/kernel-spec.ts';
import { type EncodeTimeValue, packUniforms, type StorageBinding } from '../kernel/shader-part.ts';
import { backwardKernels, forwardKernels } from './kernels.ts';
import { deviceReasons, problemReasons, support } from './support.ts';
import { backwardTensorSpans, type GradientDescs, tensorSpans } from './tensors.ts';

/** Where a tensor starts. */
export interface BufferSlice {
  readonly buffer: GPUBuffer;
  /** Bytes, default 0. Any multiple of the element size; of four elements where the plan's `tensors` say so. */
  readonly offset?: number;
}

/** A tensor that a plan binds. */
export interface PlanTensor {
  readonly name: string;
  /** Bytes from its first to its last element. */
  readonly bytes: number;
  /** The offset of its slice must be a multiple of this. */
  readonly alignment: number;
  readonly access: 'read' | 'read_write';
}

/** Numbers that may change from one encode to the next without a new plan. */
export interface EncodeOptions {
  /** 64-bit words of the dropout seed and offset. Default: those of the problem. */
  readonly seed?: U64Words;
  readonly offset?: U64Words;
}

/**
 * Attention on one device, ready to be recorded any number of times. Nothing is submitted, mapped or allocated for tensors;
 * the parameters of a call lie in a small uniform buffer, which is made anew only when they change.
 */
export interface Plan {
  /** What `encode` needs, by name, without the workspace. */
  readonly tensors: readonly PlanTensor[];
  /** Bytes of the buffer to pass as `workspace`; 0 when none is needed. */
  readonly workspaceBytes: number;
  /** The kernels in order, with their source. */
  readonly kernels: readonly KernelSpec[];
  /**
   * Records the work.
   * @throws InvalidArgumentError or InvalidShapeError naming a buffer that is missing, too small or misaligned.
   */
  encode(
    target: GPUCommandEncoder | GPUComputePassEncoder,
    buffers: Readonly<Record<string, BufferSlice>>,
    options?: EncodeOptions,
  ): void;
  /** Compiles all kernels in the background. Without it the first `encode` compiles. */
  warmUp(): Promise<void>;
  /** Frees the uniform buffers of calls that were recorded. Only after these were submitted. */
  destroy(): void;
}

const workspaceName = 'rows';
const noNames: ReadonlySet<string> = new Set();

/** Choices of a plan that the problem does not hold. */
export interface PlanOptions {
  /**
   * Tensors whose slices may start at any element. Others must start at a multiple of four elements (see `tensors`), so
   * that they can be moved in vectors.
   */
  readonly unaligned?: Iterable<string>;
}

export interface BackwardPlanOptions extends PlanOptions {
  /** Layouts of the gradients. Default: those of q, k and v. */
  readonly layouts?: GradientDescs;
}

/** Whether this context can run a problem, and why not. */
export function checkSupport(ctx: GpuContext, problem: AttentionProblem | BackwardProblem): Support {
  const reasons = problemReasons(problem);
  if (reasons.length > 0) return support(reasons);
  const kernels =
    'forward' in problem
      ? backwardKernels(problem, defaultGradientDescs(problem), ctx.capabilities, noNames)
      : forwardKernels(problem, noNames);
  return support(deviceReasons(kernels, ctx.capabilities));
}

/**
 * A plan for o, lse (and max, sumExp, if asked for) from q, k, v and the tensors of the options, by the names of
 * `SdpaOptions`. Layouts are those of the problem; lse-like tensors are contiguous f32.
 * @throws UnsupportedError when `checkSupport` has reasons.
 */
export function planSdpa(ctx: GpuContext, problem: AttentionProblem, options: PlanOptions = {}): Plan {
  ctx.checkAlive();
  validate(problem);
  demand(checkSupport(ctx, problem));
  return makePlan(ctx, forwardKernels(problem, new Set(options.unaligned)), tensorSpans(problem), problem);
}

/**
 * A plan for dq, dk, dv (those in `problem.gradients`) from q, k, v, o, lse, dO and dLse. The gradients are laid out like q,
 * k and v unless `layouts` says otherwise.
 * @throws UnsupportedError when `checkSupport` has reasons.
 */
export function planSdpaBackward(
  ctx: GpuContext,
  problem: BackwardProblem,
  { layouts = defaultGradientDescs(problem), unaligned }: BackwardPlanOptions = {},
): Plan {
  ctx.checkAlive();
  validate(problem.forward);
  demand(checkSupport(ctx, problem));
  const kernels = backwardKernels(problem, layouts, ctx.capabilities, new Set(unaligned));
  return makePlan(ctx, kernels, backwardTensorSpans(problem, layouts), problem.forward);
}

function defaultGradientDescs({ forward: { q, k, v } }: BackwardProblem): GradientDescs {
  return { dq: q, dk: k, dv: v };
}

function demand({ supported, reasons }: Support): void {
  if (!supported) throw new UnsupportedError('webgpu', reasons);
}

function makePlan(
  ctx: GpuContext,
  kernels: readonly KernelSpec[],
  spans: Readonly<Record<string, number>>,
  { dropout }: AttentionProblem,
): Plan {
  const { device, capabilities } = ctx;
  const all = planTensors(kernels, spans);
  const workspace = all.find(({ name }) => name === workspaceName);
  const tensors = all.filter(tensor => tensor !== workspace);
  const philox = dropout?.kind === 'philox' ? dropout : null;
  const parameters = kernels.map(() => new ParameterBuffers(device));

  return {
    tensors,
    workspaceBytes: workspace?.bytes ?? 0,
    kernels,
    encode(target, buffers, options = {}) {
      ctx.checkAlive();
      const slices: Record<string, BufferSlice> = { ...buffers };
      if (workspace && buffers.workspace) slices[workspaceName] = buffers.workspace;
      for (const tensor of all) checkSlice(tensor, slices[tensor.name]);
      const pass = 'dispatchWorkgroups' in target ? target : target.beginComputePass({ label: 'tilewise' });
      kernels.forEach((kernel, n) => {
        if (kernel.workgroups[0] === 0) return;
        const { pipeline, layout } = compile(device, kernel);
        const ranges = kernel.bindings.map(binding => bindingRange(binding, slices, spans, capabilities));
        const resolve = (value: EncodeTimeValue): number => {
          if ('offsetOf' in value) {
            return (
              ranges[kernel.bindings.findIndex(({ name }) => name === value.offsetOf)]?.elementOffset ?? 0
            );
          }
          return (options[value.dropout] ?? philox?.[value.dropout] ?? [0, 0])[value.word];
        };
        const uniform = (parameters[n] as ParameterBuffers).get(packUniforms(kernel.uniforms, resolve));
        const entries = [uniform, ...ranges.map(({ resource }) => resource)];
        pass.setPipeline(pipeline);
        pass.setBindGroup(
          0,
          device.createBindGroup({
            label: kernel.name,
            layout,
            entries: entries.map((resource, binding) => ({ binding, resource })),
          }),
        );
        pass.dispatchWorkgroups(...kernel.workgroups);
      });
      if (pass !== target) pass.end();
    },
    async warmUp() {
      ctx.checkAlive();
      await Promise.all(kernels.map(kernel => compileAsync(device, kernel)));
    },
    destroy() {
      for (const one of parameters) one.destroy();
    },
  };
}

/** Uniform buffers of one kernel's calls. Calls in a row with the same numbers share one. */
class ParameterBuffers {
  readonly #device: GPUDevice;
  readonly #made: GPUBuffer[] = [];
  #last: { readonly bytes: Uint8Array; readonly binding: GPUBufferBinding } | undefined;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  get(content: ArrayBuffer): GPUBufferBinding {
    const bytes = new Uint8Array(content);
    const last = this.#last;
    if (last?.bytes.every((byte, n) => byte === bytes[n])) return last.binding;
    const buffer = this.#device.createBuffer({
      label: 'tilewise parameters',
      size: bytes.length,
      usage: bufferUsage.UNIFORM,
      mappedAtCreation: true,
    });
    new Uint8Array(buffer.getMappedRange()).set(bytes);
    buffer.unmap();
    this.#made.push(buffer);
    const binding = { buffer };
    this.#last = { bytes, binding };
    return binding;
  }

  destroy(): void {
    for (const buffer of this.#made.splice(0)) buffer.destroy();
    this.#last = undefined;
  }
}

/** Every tensor that some kernel binds, with the strictest of their demands. */
function planTensors(kernels: readonly KernelSpec[], spans: Readonly<Record<string, number>>): PlanTensor[] {
  const tensors = new Map<string, PlanTensor>();
  for (const { name, access, alignment, elementBytes } of kernels.flatMap(kernel => kernel.bindings)) {
    const seen = tensors.get(name);
    tensors.set(name, {
      name,
      bytes: spanBytes(name, elementBytes, spans),
      alignment: Math.max(alignment, seen?.alignment ?? 1),
      access: seen?.access === 'read_write' ? 'read_write' : access,
    });
  }
  return [...tensors.values()];
}

function spanBytes(name: string, elementBytes: number, spans: Readonly<Record<string, number>>): number {
  return (spans[name] ?? 0) * elementBytes;
}

function checkSlice({ name, bytes, alignment }: PlanTensor, slice: BufferSlice | undefined): void {
  const argument = `buffers.${name === workspaceName ? 'workspace' : name}`;
  if (!slice) throw new InvalidArgumentError(argument, 'is missing');
  const { buffer, offset = 0 } = slice;
  if (!Number.isInteger(offset) || offset < 0 || offset % alignment !== 0) {
    throw new InvalidArgumentError(
      `${argument}.offset`,
      `must be a multiple of ${alignment} bytes, got ${offset}`,
    );
  }
  // Shaders see whole words, so the last one must be there.
  if (Math.ceil((offset + bytes) / 4) * 4 > buffer.size) {
    throw new InvalidShapeError(
      argument,
      `needs ${bytes} bytes from offset ${offset}, but its buffer has ${buffer.size}`,
    );
  }
  if (!(buffer.usage & bufferUsage.STORAGE)) {
    throw new InvalidArgumentError(argument, `must have the usage STORAGE, got usage ${buffer.usage}`);
  }
}

/** Bindings start at coarse offsets: the tensor starts `elementOffset` elements into its binding. */
function bindingRange(
  { name, elementBytes }: StorageBinding,
  slices: Readonly<Record<string, BufferSlice>>,
  spans: Readonly<Record<string, number>>,
  { minStorageBufferOffsetAlignment }: { readonly minStorageBufferOffsetAlignment: number },
): { elementOffset: number; resource: GPUBufferBinding } {
  const { buffer, offset: start = 0 } = slices[name] as BufferSlice;
  const offset = Math.floor(start / minStorageBufferOffsetAlignment) * minStorageBufferOffsetAlignment;
  const end = Math.ceil((start + spanBytes(name, elementBytes, spans)) / 16) * 16;
  const size = Math.max(16, Math.min(end, Math.floor(buffer.size / 4) * 4) - offset);
  return {
    elementOffset: (start - offset) / elementBytes,
    resource: { buffer, offset, size: Math.min(size, buffer.size - offset) },
  };
}
