import {
  bytesSpanned,
  elementCount,
  type HostArray,
  InvalidArgumentError,
  isContiguous,
  isHostArray,
  type Tensor,
  type TensorDesc,
  UnsupportedError,
} from '@tilewise/core';
import type { ByteRange } from '../device/byte-range.ts';
import { beginPass } from '../device/compute-pass.ts';
import { noteFailure, submitWork, touch } from '../device/gpu-work.ts';
import { type QueuedWork, workQueue } from '../device/work-queue.ts';
import type { GpuMemory } from './memory/gpu-memory.ts';
import { GpuTensor } from './memory/gpu-tensor.ts';
import { bytesOf, isUnaligned } from './memory/tensor-storage.ts';
import type { KernelPlan } from './plan/kernel-plan.ts';
import type { PlanBuffer } from './plan/plan-tensors.ts';
import type { PlanCache } from './plan-cache.ts';

/** A result that a call allocates. */
export interface ResultDesc {
  readonly desc: TensorDesc;
  /**
   * The value of elements that kernels may leave unwritten, or null if kernels write all elements. A value
   * other than 0 is allowed for f32 only.
   */
  readonly fill: number | null;
}

/** A buffer that a call fills itself and reads results from, provided that its plan binds the buffer. */
export interface CallList {
  /** The name by which the plan binds the buffer. */
  readonly name: string;
  readonly bytes: number;
  /** The tensors from which `fill` copies. They have been checked. */
  readonly sources: readonly (readonly [string, GpuTensor])[];
  fill(encoder: GPUCommandEncoder, list: GPUBuffer): void;
  read(
    encoder: GPUCommandEncoder,
    list: GPUBuffer,
    results: readonly { readonly name: string; readonly buffer: GPUBuffer }[],
  ): void;
}

/** An eager call: a plan, new or cached, and the tensors to run it on. */
export interface EagerCall<Options, Results> {
  /** The key of the plan. */
  readonly key: string;
  /** Tensors by the names that the plan binds. Host tensors are uploaded for the call. */
  readonly operands: readonly (readonly [string, unknown])[];
  /** Operands that must be contiguous on the GPU. The strides of other operands are part of the problem. */
  readonly inLine: ReadonlySet<string>;
  readonly results: Readonly<Record<string, ResultDesc>>;
  readonly list: CallList | null;
  /** The options of `encode`. */
  readonly options: Options | undefined;
  readonly plan: (unaligned: readonly string[]) => KernelPlan<Options>;
  /** Converts the results to what the caller gets. */
  readonly resultsOf: (tensors: Record<string, GpuTensor>) => Results;
}

type Tensors = ReadonlyMap<string, GpuTensor>;

interface MadeResult {
  readonly name: string;
  readonly result: ResultDesc;
  readonly buffer: GPUBuffer;
  readonly bytes: number;
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
  call: EagerCall<Options, Results>,
): EagerRun<Results> {
  const given = tensorsOnGpu(ctx, call);
  const uploads: [string, GpuTensor][] = [];
  const made: MadeResult[] = [];
  try {
    const plan = planOf(plans, call, given);
    for (const [name, tensor] of call.operands) {
      if (!given.has(name)) uploads.push([name, upload(ctx, name, tensor, call.inLine)]);
    }
    for (const [name, result] of Object.entries(call.results)) {
      const bytes = bytesSpanned(result.desc);
      made.push({ name, result, buffer: ctx.takeBuffer(bytes), bytes });
    }
    const tensors = uploads.length === 0 ? given : new Map([...given, ...uploads]);
    const work = prepareCall(ctx, call, plan, tensors, made);
    const results = call.resultsOf(
      Object.fromEntries(made.map(({ name, result, buffer }) => [name, ctx.own(buffer, result.desc)])),
    );
    return { results, submitted: workQueue(ctx.device).run(work) };
  } catch (error) {
    for (const { buffer } of made) ctx.giveBuffer(buffer);
    throw error;
  } finally {
    for (const [, tensor] of uploads) ctx.release(tensor);
  }
}

/**
 * Checks a call, takes reusable buffers for its workspace and its list, and starts to compile kernels that
 * are not compiled. Returns the work that submits the call.
 */
function prepareCall<Options>(
  ctx: GpuMemory,
  { list, options }: EagerCall<Options, unknown>,
  plan: KernelPlan<Options>,
  tensors: Tensors,
  results: readonly MadeResult[],
): QueuedWork<undefined> {
  const boundList = list && plan.tensors.some(({ name }) => name === list.name) ? list : null;
  const filled = results.filter(({ result }) => result.fill !== null);
  // The plan declares what its kernels read and write. Besides, the call reads the sources of the list, fills
  // results, and copies results out of the list.
  const sources = list?.sources.map(([, source]) => bytesOf(source)) ?? [];
  const written = (boundList ? results : filled).map(rangeOf);
  const taken: GPUBuffer[] = [];
  const take = (bytes: number): GPUBuffer => {
    const buffer = ctx.takeBuffer(bytes);
    taken.push(buffer);
    return buffer;
  };
  const giveBack = (): void => {
    for (const buffer of taken.splice(0)) ctx.giveBuffer(buffer);
  };
  const listBuffer = boundList && take(boundList.bytes);
  const slices: Record<string, PlanBuffer> = {};
  for (const [name, { buffer, byteOffset }] of tensors) slices[name] = { buffer, offset: byteOffset };
  for (const { name, buffer } of results) slices[name] = { buffer };
  if (plan.workspaceBytes > 0) slices.workspace = { buffer: take(plan.workspaceBytes) };
  if (boundList && listBuffer) slices[boundList.name] = { buffer: listBuffer };
  try {
    const run = plan.prepare(slices, options);
    const record = (encoder: GPUCommandEncoder) => {
      for (const { buffer, result } of filled) fillUnwritten(ctx, encoder, buffer, result);
      if (boundList && listBuffer) boundList.fill(encoder, listBuffer);
      const pass = beginPass(encoder, ctx.trace);
      run.encode(pass);
      pass.end();
      if (boundList && listBuffer) boundList.read(encoder, listBuffer, results);
      touch(sources, written);
      return () => plan.retire();
    };
    return {
      ready: run.isCompiled ? undefined : run.compile(),
      buffers: run.buffers,
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
        noteFailure(results.map(rangeOf), error);
      },
    };
  } catch (error) {
    giveBack();
    throw error;
  }
}

const rangeOf = ({ buffer, bytes }: MadeResult): ByteRange => ({ buffer, offset: 0, size: bytes });

/** The operands and sources of a call that are on the GPU, by name. */
function tensorsOnGpu(ctx: GpuMemory, { operands, inLine, list }: EagerCall<unknown, unknown>): Tensors {
  const tensors = new Map<string, GpuTensor>();
  for (const [name, tensor] of operands) {
    if (!(tensor instanceof GpuTensor)) continue;
    const { shape, strides } = ctx.checkOwn(name, tensor);
    if (inLine.has(name) && !isContiguous(shape, strides)) {
      const reason = `${name} must be contiguous on the GPU, got strides [${strides}] for shape [${shape}]`;
      throw new UnsupportedError('webgpu', [reason]);
    }
    tensors.set(name, tensor);
  }
  for (const [name, source] of list?.sources ?? []) tensors.set(name, source);
  return tensors;
}

/**
 * The plan of a call. Tensors that are yet to be uploaded start at offset 0 of a buffer, so they are aligned.
 */
function planOf<Options>(
  plans: PlanCache,
  { key, plan }: EagerCall<Options, unknown>,
  given: Tensors,
): KernelPlan<Options> {
  const unaligned = [...given].filter(([, tensor]) => isUnaligned(tensor)).map(([name]) => name);
  return plans.get(unaligned.length === 0 ? key : `${key} ${unaligned}`, () => plan(unaligned));
}

function upload(ctx: GpuMemory, name: string, tensor: unknown, inLine: ReadonlySet<string>): GpuTensor {
  if (!isHostArray(tensor)) throw new InvalidArgumentError(name, 'must be a GpuTensor or a Tensor');
  return ctx.upload(inLine.has(name) ? contiguous(tensor) : tensor);
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
function fillUnwritten(
  ctx: GpuMemory,
  encoder: GPUCommandEncoder,
  buffer: GPUBuffer,
  { desc, fill }: ResultDesc,
): void {
  if (fill === null) return;
  if (fill === 0) encoder.clearBuffer(buffer);
  else ctx.device.queue.writeBuffer(buffer, 0, new Float32Array(elementCount(desc.shape)).fill(fill));
}
