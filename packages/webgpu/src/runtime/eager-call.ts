import {
  dtypeTraits,
  elementCount,
  type HostArray,
  InvalidArgumentError,
  isContiguous,
  isHostArray,
  type Tensor,
  type TensorDesc,
  UnsupportedError,
} from '@tilewise/core';
import { gpuWork, touch } from '../device/gpu-work.ts';
import type { GpuMemory } from './gpu-memory.ts';
import { GpuTensor } from './gpu-tensor.ts';
import type { KernelPlan } from './plan/kernel-plan.ts';
import { PlanCache } from './plan-cache.ts';
import { bytesOf, isUnaligned } from './tensor-storage.ts';

/** A result that a call allocates. */
export interface ResultDesc {
  readonly desc: TensorDesc;
  /**
   * The value of elements that kernels may leave unwritten, or null where kernels write all; other than 0 for
   * f32 only.
   */
  readonly fill: number | null;
}

/** A buffer that a call fills itself and reads results from, if its plan binds the buffer. */
export interface CallList {
  /** The name by which the plan binds the buffer. */
  readonly name: string;
  readonly bytes: number;
  /** The tensors from which `fill` copies, checked. */
  readonly sources: readonly (readonly [string, GpuTensor])[];
  fill(encoder: GPUCommandEncoder, list: GPUBuffer): void;
  read(
    encoder: GPUCommandEncoder,
    list: GPUBuffer,
    results: readonly { readonly name: string; readonly buffer: GPUBuffer }[],
  ): void;
}

/** One eager call: a plan, new or from the cache, and the tensors to run it on. */
export interface EagerCall<Options> {
  /** The key of the plan. */
  readonly key: string;
  /** Tensors by the names that the plan binds. Tensors on the host are uploaded for the call. */
  readonly operands: readonly (readonly [string, unknown])[];
  /** Operands that must be contiguous on the GPU. The strides of others are part of the problem. */
  readonly inLine: ReadonlySet<string>;
  readonly results: Readonly<Record<string, ResultDesc>>;
  readonly list: CallList | null;
  /** The options of `encode`. */
  readonly options: Options;
  readonly plan: (unaligned: readonly string[]) => KernelPlan<Options>;
}

type Tensors = ReadonlyMap<string, GpuTensor>;

interface MadeResult {
  readonly name: string;
  readonly result: ResultDesc;
  readonly buffer: GPUBuffer;
}

const plans = new WeakMap<GpuMemory, PlanCache>();

/**
 * Allocates the results, uploads host operands, records the plan and submits.
 * @throws InvalidArgumentError or UnsupportedError for an operand that is no tensor of this context, or is
 * not contiguous where it must be.
 */
export function runCall<Options>(ctx: GpuMemory, call: EagerCall<Options>): Record<string, GpuTensor> {
  const given = tensorsOnGpu(ctx, call);
  const plan = planOf(ctx, call, given);
  const uploads: [string, GpuTensor][] = [];
  const made: MadeResult[] = [];
  try {
    for (const [name, tensor] of call.operands) {
      if (!given.has(name)) uploads.push([name, upload(ctx, name, tensor, call.inLine)]);
    }
    gpuWork(ctx.device, () => {
      for (const [name, result] of Object.entries(call.results)) {
        const { shape, dtype } = result.desc;
        const buffer = ctx.takeBuffer(elementCount(shape) * dtypeTraits[dtype].bytes);
        made.push({ name, result, buffer });
      }
      submit(ctx, call, plan, new Map([...given, ...uploads]), made);
    });
    return Object.fromEntries(made.map(({ name, result, buffer }) => [name, ctx.own(buffer, result.desc)]));
  } catch (error) {
    for (const { buffer } of made) ctx.giveBuffer(buffer);
    throw error;
  } finally {
    for (const [, tensor] of uploads) ctx.release(tensor);
  }
}

/**
 * Compiles the kernels of a call in the background, so that `runCall` does not block; undefined when all are
 * compiled. Rejects as `warmUp` of a plan.
 */
export function compileCall<Options>(ctx: GpuMemory, call: EagerCall<Options>): Promise<void> | undefined {
  const plan = planOf(ctx, call, tensorsOnGpu(ctx, call));
  return plan.isCompiled ? undefined : plan.warmUp();
}

/** Records and submits a call, with the workspace and the list in buffers that later calls use again. */
function submit<Options>(
  ctx: GpuMemory,
  { list, options }: EagerCall<Options>,
  plan: KernelPlan<Options>,
  tensors: Tensors,
  results: readonly MadeResult[],
): void {
  const boundList = list && plan.tensors.some(({ name }) => name === list.name) ? list : null;
  const workspace = plan.workspaceBytes > 0 ? ctx.takeBuffer(plan.workspaceBytes) : null;
  const listBuffer = boundList && ctx.takeBuffer(boundList.bytes);
  try {
    const encoder = ctx.device.createCommandEncoder({ label: 'tilewise' });
    for (const { buffer, result } of results) fillUnwritten(ctx, encoder, buffer, result);
    if (boundList && listBuffer) boundList.fill(encoder, listBuffer);
    const slices = [...tensors].map(([name, { buffer, byteOffset }]) => [
      name,
      { buffer, offset: byteOffset },
    ]);
    const buffers = Object.fromEntries([
      ...slices,
      ...results.map(({ name, buffer }) => [name, { buffer }]),
      ...(workspace ? [['workspace', { buffer: workspace }]] : []),
      ...(boundList ? [[boundList.name, { buffer: listBuffer }]] : []),
    ]);
    plan.encode(encoder, buffers, options);
    if (boundList && listBuffer) boundList.read(encoder, listBuffer, results);
    ctx.device.queue.submit([encoder.finish()]);
    // The plan says what its kernels read and write; the list is read, and results are filled, besides.
    touch(
      list ? list.sources.map(([, source]) => bytesOf(source)) : [],
      results.map(({ buffer }) => ({ buffer, offset: 0, size: buffer.size })),
    );
    plan.retire();
  } finally {
    if (workspace) ctx.giveBuffer(workspace);
    if (listBuffer) ctx.giveBuffer(listBuffer);
  }
}

/** The operands and sources of a call that are on the GPU, by name. */
function tensorsOnGpu<Options>(ctx: GpuMemory, { operands, inLine, list }: EagerCall<Options>): Tensors {
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
 * The plan of a call. Tensors that are still to be uploaded start at the start of a buffer, so they are
 * aligned.
 */
function planOf<Options>(
  ctx: GpuMemory,
  { key, plan }: EagerCall<Options>,
  given: Tensors,
): KernelPlan<Options> {
  const cache = plans.get(ctx) ?? new PlanCache();
  plans.set(ctx, cache);
  const unaligned = [...given].filter(([, tensor]) => isUnaligned(tensor)).map(([name]) => name);
  return cache.get(JSON.stringify([key, unaligned]), () => plan(unaligned));
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
 * Fills a result with what kernels may leave unwritten: zeros on the GPU, other values (of the small row
 * results) from the host.
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
