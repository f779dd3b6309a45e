import {
  bytesSpanned,
  elementCount,
  InvalidArgumentError,
  isContiguous,
  type Tensor,
  type TensorDesc,
  UnsupportedError,
} from '@tilewise/core';
import { type HostArray, isHostArray } from '@tilewise/core/engine';
import type { ByteRange } from '../device/byte-range.ts';
import { beginPass } from '../device/compute-pass.ts';
import { noteFailure, submitWork, touch } from '../device/gpu-work.ts';
import { type QueuedWork, workQueue } from '../device/work-queue.ts';
import type { GpuMemory } from './memory/gpu-memory.ts';
import { GpuTensor } from './memory/gpu-tensor.ts';
import { bytesOf, isUnaligned } from './memory/tensor-storage.ts';
import type { KernelPlan } from './plan/kernel-plan.ts';
import type { BufferSlice } from './plan/plan-tensors.ts';
import type { PlanCache } from './plan-cache.ts';

/** A result that a call allocates, under the name by which the plan binds it or the list gives it. */
export interface CallResult {
  readonly name: string;
  readonly desc: TensorDesc;
  /**
   * The value of elements that kernels may leave unwritten, or null if kernels write all elements. A value
   * other than 0 is allowed for f32 only.
   */
  readonly fill: number | null;
}

/** A result of one call, with its buffer. */
interface MadeResult extends CallResult {
  readonly buffer: GPUBuffer;
}

/** A buffer that a call fills itself and reads results from, provided that its plan binds the buffer. */
export interface CallList {
  /** The name by which the plan binds the buffer. */
  readonly name: string;
  readonly bytes: number;
  /** The tensors from which `fill` copies. They have been checked. */
  readonly sources: readonly GpuTensor[];
  fill(encoder: GPUCommandEncoder, list: GPUBuffer): void;
  read(
    encoder: GPUCommandEncoder,
    list: GPUBuffer,
    results: readonly { readonly name: string; readonly buffer: GPUBuffer }[],
  ): void;
}

/**
 * The parts of a call that do not depend on its operands. Remembered for calls with equal descriptions and
 * options, unless the options hold objects.
 */
export interface CallTemplate<Options, Results> {
  /** The key of the plan. */
  readonly key: string;
  /** The names by which the plan binds the operands. */
  readonly operands: readonly string[];
  /** Operands that must be contiguous on the GPU. The strides of other operands are part of the problem. */
  readonly contiguousNames: ReadonlySet<string>;
  readonly results: readonly CallResult[];
  readonly list: CallList | null;
  /** The options of `encode`. */
  readonly options: Options | undefined;
  readonly plan: (unaligned: readonly string[]) => KernelPlan<Options>;
  /** Converts the results to what the caller gets. */
  readonly resultsOf: (tensors: Record<string, GpuTensor>) => Results;
}

/** An eager call: a plan, new or cached, and the tensors to run it on. */
export interface EagerCall<Options, Results> {
  readonly template: CallTemplate<Options, Results>;
  /** The operands, in the order of `template.operands`. Host tensors are uploaded for the call. */
  readonly tensors: readonly unknown[];
}

/** The results of a call, and a promise of its submission. */
export interface EagerRun<Results> {
  readonly results: Results;
  /**
   * Undefined if the call has been submitted already. Rejects if the call fails before its submission;
   * `download` of its results then rejects too. Nobody needs to handle the rejection.
   */
  readonly submitted: Promise<undefined> | undefined;
}

/**
 * Allocates the results, uploads host operands, and submits the plan: at once if its kernels are compiled and
 * no earlier call waits, otherwise after the earlier calls.
 * @throws InvalidArgumentError or UnsupportedError for an operand that is not a tensor of this context, or is
 * not contiguous although it must be.
 */
export function runCall<Options, Results>(
  ctx: GpuMemory,
  plans: PlanCache,
  { template, tensors }: EagerCall<Options, Results>,
): EagerRun<Results> {
  const onGpu = checkedOperands(ctx, template, tensors);
  const uploads: GpuTensor[] = [];
  const made: MadeResult[] = [];
  try {
    const plan = planOf(plans, template, onGpu);
    const operands = onGpu.map((tensor, n) => {
      if (tensor) return tensor;
      const uploaded = upload(ctx, template.operands[n], tensors[n], template.contiguousNames);
      uploads.push(uploaded);
      return uploaded;
    });
    // Field by field, because V8 takes 1.5 µs for a spread.
    for (const { name, desc, fill } of template.results) {
      made.push({ name, desc, fill, buffer: ctx.takeBuffer(bytesSpanned(desc)) });
    }
    const work = prepareCall(ctx, template, plan, operands, made);
    const results: Record<string, GpuTensor> = {};
    for (const { name, desc, buffer } of made) results[name] = ctx.own(buffer, desc);
    return { results: template.resultsOf(results), submitted: workQueue(ctx.device).run(work) };
  } catch (error) {
    for (const { buffer } of made) ctx.giveBuffer(buffer);
    throw error;
  } finally {
    for (const tensor of uploads) ctx.release(tensor);
  }
}

/**
 * Checks a call, takes reusable buffers for its workspace and its list, and starts to compile kernels that
 * are not compiled. Returns the work that submits the call.
 */
function prepareCall<Options>(
  ctx: GpuMemory,
  { operands: names, list, options }: CallTemplate<Options, unknown>,
  plan: KernelPlan<Options>,
  operands: readonly GpuTensor[],
  made: readonly MadeResult[],
): QueuedWork<undefined> {
  const taken: GPUBuffer[] = [];
  const take = (bytes: number): GPUBuffer => {
    const buffer = ctx.takeBuffer(bytes);
    taken.push(buffer);
    return buffer;
  };
  const giveBack = (): void => {
    for (const buffer of taken.splice(0)) ctx.giveBuffer(buffer);
  };
  try {
    let listBuffer: GPUBuffer | undefined;
    const slices = plan.tensorOrder.map((name): BufferSlice => {
      const operand = operands[names.indexOf(name)];
      if (operand) return { buffer: operand.buffer, offset: operand.byteOffset };
      const result = made.find(one => one.name === name);
      if (result) return { buffer: result.buffer };
      if (name === 'workspace') return { buffer: take(plan.workspaceBytes) };
      if (name !== list?.name) throw new TypeError(`no slice for ${name}`);
      listBuffer = take(list.bytes);
      return { buffer: listBuffer };
    });
    // The plan declares what its kernels read and write. Besides, the call reads the sources of the list,
    // fills results, and copies results out of the list.
    const read = list?.sources.map(bytesOf) ?? [];
    const written = made.filter(({ fill }) => listBuffer || fill !== null).map(rangeOf);
    const run = plan.prepareInOrder(slices, options);
    const record = (encoder: GPUCommandEncoder) => {
      for (const result of made) fillUnwritten(ctx, encoder, result);
      if (listBuffer) list?.fill(encoder, listBuffer);
      const pass = beginPass(encoder, ctx.trace);
      run.encode(pass);
      pass.end();
      if (listBuffer) list?.read(encoder, listBuffer, made);
      touch(read, written);
      return () => plan.retire();
    };
    return {
      ready: run.isCompiled() ? undefined : run.compile(),
      buffers: () => run.buffers,
      run() {
        try {
          ctx.checkAlive();
          submitWork(ctx.device, record);
        } finally {
          giveBack();
        }
        return undefined;
      },
      fail(error) {
        giveBack();
        noteFailure(made.map(rangeOf), error);
      },
    };
  } catch (error) {
    giveBack();
    throw error;
  }
}

const rangeOf = ({ buffer, desc }: MadeResult): ByteRange => {
  return { buffer, offset: 0, size: bytesSpanned(desc) };
};

/** The operands of a call that are on the GPU, checked; undefined in place of the others. */
function checkedOperands(
  ctx: GpuMemory,
  { operands, contiguousNames }: CallTemplate<unknown, unknown>,
  tensors: readonly unknown[],
): (GpuTensor | undefined)[] {
  return tensors.map((tensor, n) => {
    if (!(tensor instanceof GpuTensor)) return undefined;
    const name = operands[n];
    const { shape, strides } = ctx.checkOwn(name, tensor);
    if (contiguousNames.has(name) && !isContiguous(shape, strides)) {
      const reason = `${name} must be contiguous on the GPU, got strides [${strides}] for shape [${shape}]`;
      throw new UnsupportedError('webgpu', [reason]);
    }
    return tensor;
  });
}

/**
 * The plan of a call. Tensors that are yet to be uploaded start at offset 0 of a buffer, so they are aligned.
 */
function planOf<Options>(
  plans: PlanCache,
  { key, operands, plan }: CallTemplate<Options, unknown>,
  onGpu: readonly (GpuTensor | undefined)[],
): KernelPlan<Options> {
  const unaligned = operands.filter((_, n) => onGpu[n] && isUnaligned(onGpu[n]));
  return plans.get(unaligned.length > 0 ? `${key} ${unaligned}` : key, () => plan(unaligned));
}

function upload(
  ctx: GpuMemory,
  name: string,
  tensor: unknown,
  contiguousNames: ReadonlySet<string>,
): GpuTensor {
  if (!isHostArray(tensor)) throw new InvalidArgumentError(name, 'must be a GpuTensor or a Tensor');
  return ctx.upload(contiguousNames.has(name) ? contiguous(tensor) : tensor);
}

/** Only a Tensor can have gaps; other host arrays have none. */
function contiguous(tensor: HostArray | Tensor): HostArray {
  const isDense = isContiguous(tensor.shape, tensor.strides) || !('contiguous' in tensor);
  return isDense ? tensor : tensor.contiguous();
}

/**
 * Fills a result in which kernels may leave elements unwritten: with zeros on the GPU, with other values (of
 * the small row results) from the host.
 */
function fillUnwritten(ctx: GpuMemory, encoder: GPUCommandEncoder, { buffer, desc, fill }: MadeResult): void {
  if (fill === null) return;
  if (fill === 0) encoder.clearBuffer(buffer);
  else ctx.device.queue.writeBuffer(buffer, 0, new Float32Array(elementCount(desc.shape)).fill(fill));
}
