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
import type { BufferSlice } from './plan/plan-tensors.ts';
import { bytesOf } from './tensor-storage.ts';

/** A result to be made. */
export interface ResultDesc {
  readonly desc: TensorDesc;
  /** What the elements hold that kernels may leave out, if there are such; other than 0 for f32 only. */
  readonly fill: number | null;
}

/** A buffer that a call fills itself and reads results from, if its plan binds it. */
export interface CallList {
  /** As the plan binds it. */
  readonly name: string;
  readonly bytes: number;
  /** The tensors that it is filled from, checked. */
  readonly sources: readonly (readonly [string, GpuTensor])[];
  fill(encoder: GPUCommandEncoder, list: GPUBuffer): void;
  read(
    encoder: GPUCommandEncoder,
    list: GPUBuffer,
    results: readonly { readonly name: string; readonly buffer: GPUBuffer }[],
  ): void;
}

/** One eager call: a plan, made or remembered, and the tensors that it runs on. */
export interface EagerCall<Options> {
  /** Says which plan this is. */
  readonly key: string;
  /** Tensors by the names that the plan binds; those on the host are uploaded for the call. */
  readonly operands: readonly (readonly [string, unknown])[];
  /** Operands that kernels take to lie in line. Others may have any strides, which are part of the problem. */
  readonly inLine: ReadonlySet<string>;
  readonly results: Readonly<Record<string, ResultDesc>>;
  readonly list: CallList | null;
  /** Those of `encode`. */
  readonly options: Options;
  readonly plan: (unaligned: readonly string[]) => KernelPlan<Options>;
}

/** What a plan does whose options are known. */
type AnyPlan = KernelPlan<never>;

const plans = new WeakMap<GpuMemory, Map<string, AnyPlan>>();

/** More problems than a program normally has; beyond it, the oldest plan is forgotten (its pipelines are not). */
const maxPlans = 256;

/**
 * Allocates the results, uploads host operands, records the plan and submits.
 * @throws InvalidArgumentError or UnsupportedError for an operand that is no tensor of this context in the layout that it needs.
 */
export function runCall<Options>(ctx: GpuMemory, call: EagerCall<Options>): Record<string, GpuTensor> {
  const { operands, inLine, results, list } = call;
  const given = new Map<string, GpuTensor>();
  for (const [name, tensor] of operands) {
    if (tensor instanceof GpuTensor) given.set(name, checkPlaced(ctx, name, tensor, inLine));
  }
  if (list) for (const [name, source] of list.sources) given.set(name, source);
  // What is uploaded below starts at the start of a buffer.
  const unaligned = [...given]
    .filter(([, { dtype, byteOffset }]) => byteOffset % (4 * dtypeTraits[dtype].bytes) !== 0)
    .map(([name]) => name);
  const plan = remembered(ctx, call, unaligned);

  const uploaded: GpuTensor[] = [];
  const taken: GPUBuffer[] = [];
  const take = (bytes: number): GPUBuffer => {
    const buffer = ctx.takeBuffer(bytes);
    taken.push(buffer);
    return buffer;
  };
  try {
    for (const [name, tensor] of operands) {
      if (given.has(name)) continue;
      if (!isHostArray(tensor)) throw new InvalidArgumentError(name, 'must be a GpuTensor or a Tensor');
      const copy = ctx.upload(inLine.has(name) ? inOneLine(tensor) : tensor);
      uploaded.push(copy);
      given.set(name, copy);
    }
    const { result: outputs } = gpuWork(ctx.device, () => {
      const buffers: Record<string, BufferSlice> = {};
      for (const [name, { buffer, byteOffset }] of given) buffers[name] = { buffer, offset: byteOffset };
      const made = Object.entries(results).map(([name, result]) => ({
        name,
        result,
        buffer: take(elementCount(result.desc.shape) * dtypeTraits[result.desc.dtype].bytes),
      }));
      for (const { name, buffer } of made) buffers[name] = { buffer };
      const spaces: GPUBuffer[] = [];
      const space = (bytes: number): GPUBuffer => {
        const buffer = ctx.takeBuffer(bytes);
        spaces.push(buffer);
        return buffer;
      };
      try {
        if (plan.workspaceBytes > 0) buffers.workspace = { buffer: space(plan.workspaceBytes) };
        const boundList = list && plan.tensors.some(({ name }) => name === list.name) ? list : null;
        const listBuffer = boundList && space(boundList.bytes);
        if (boundList && listBuffer) buffers[boundList.name] = { buffer: listBuffer };
        const encoder = ctx.device.createCommandEncoder({ label: 'tilewise' });
        for (const { buffer, result } of made) fill(ctx, encoder, buffer, result);
        if (boundList && listBuffer) boundList.fill(encoder, listBuffer);
        plan.encode(encoder, buffers, call.options);
        if (boundList && listBuffer) boundList.read(encoder, listBuffer, made);
        ctx.device.queue.submit([encoder.finish()]);
        // The plan says what it reads and writes itself.
        touch(
          list ? list.sources.map(([, source]) => bytesOf(source)) : [],
          made.map(({ buffer }) => ({ buffer, offset: 0, size: buffer.size })),
        );
        plan.retire();
      } finally {
        for (const buffer of spaces) ctx.giveBuffer(buffer);
      }
      return made;
    });
    return Object.fromEntries(
      outputs.map(({ name, result, buffer }) => [name, ctx.own(buffer, result.desc)]),
    );
  } catch (error) {
    for (const buffer of taken) ctx.giveBuffer(buffer);
    throw error;
  } finally {
    for (const tensor of uploaded) ctx.release(tensor);
  }
}

/** What kernels may leave out of a result: zeros in passing, other values (of the small row results) from the host. */
function fill(
  ctx: GpuMemory,
  encoder: GPUCommandEncoder,
  buffer: GPUBuffer,
  { desc, fill }: ResultDesc,
): void {
  if (fill === null) return;
  if (fill === 0) encoder.clearBuffer(buffer);
  else ctx.device.queue.writeBuffer(buffer, 0, new Float32Array(elementCount(desc.shape)).fill(fill));
}

/** Only a tensor can have gaps; lists of numbers have none. */
function inOneLine(tensor: HostArray | Tensor): HostArray {
  return isContiguous(tensor.shape, tensor.strides) || !('contiguous' in tensor)
    ? tensor
    : tensor.contiguous();
}

function checkPlaced(
  ctx: GpuMemory,
  name: string,
  tensor: GpuTensor,
  inLine: ReadonlySet<string>,
): GpuTensor {
  const { shape, strides } = ctx.checkOwn(name, tensor);
  if (inLine.has(name) && !isContiguous(shape, strides)) {
    throw new UnsupportedError('webgpu', [
      `${name} must be contiguous on the GPU, got strides [${strides}] for shape [${shape}]`,
    ]);
  }
  return tensor;
}

function remembered<Options>(
  ctx: GpuMemory,
  { key, plan }: EagerCall<Options>,
  unaligned: readonly string[],
): KernelPlan<Options> {
  let known = plans.get(ctx);
  if (!known) {
    known = new Map();
    plans.set(ctx, known);
  }
  const name = JSON.stringify([key, unaligned]);
  const old = known.get(name);
  if (old) {
    // The least recently used goes first.
    known.delete(name);
    known.set(name, old);
    // A key says which plan it is, and so which options that takes.
    return old as KernelPlan<Options>;
  }
  const made = plan(unaligned);
  if (known.size >= maxPlans) {
    const [oldest] = known.keys();
    if (oldest !== undefined) {
      known.get(oldest)?.destroy();
      known.delete(oldest);
    }
  }
  known.set(name, made);
  return made;
}
