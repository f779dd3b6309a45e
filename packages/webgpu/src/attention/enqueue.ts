import {
  type DropoutDesc,
  dtypeTraits,
  elementCount,
  type Fp8Scalars,
  type HostArray,
  InvalidArgumentError,
  isContiguous,
  isHostArray,
  type Tensor,
  type TensorDesc,
  UnsupportedError,
} from '@tilewise/core';
import type { GpuContext } from '../device/context.ts';
import { withFaults } from '../device/faults.ts';
import { GpuTensor } from '../device/gpu-tensor.ts';
import type { BufferSlice } from '../kernel/plan-tensors.ts';
import { fillFp8List, fp8GpuScalars, fp8ListBytes, readFp8List } from './fp8-list.ts';
import type { Plan } from './plan.ts';
import { captureTensor } from './score/captures.ts';

/** A result to be made. */
export interface ResultDesc {
  readonly desc: TensorDesc;
  /** What the elements hold that kernels may leave out, if there are such; other than 0 for f32 only. */
  readonly fill: number | null;
}

/** One eager call: a plan, made or remembered, and the tensors that it runs on. */
export interface EagerCall {
  /** Says, as JSON, which plan this is. The dropout seed and offset in it do not matter. */
  readonly key: unknown;
  readonly operands: object & { readonly fp8?: Fp8Scalars<GpuTensor | HostArray> };
  readonly results: Readonly<Record<string, ResultDesc>>;
  readonly dropout: DropoutDesc | null;
  readonly plan: (unaligned: readonly string[]) => Plan;
}

const plans = new WeakMap<GpuContext, Map<string, Plan>>();

/** More problems than a program normally has; beyond it, the oldest plan is forgotten (its pipelines are not). */
const maxPlans = 256;

/** Operands that kernels take to lie in line. Others may have any strides, which are part of the problem. */
const inLine: ReadonlySet<string> = new Set([
  ...['lse', 'dLse', 'alibi', 'sink'],
  ...['seqLensQ', 'seqLensKv', 'cuSeqLensQ', 'cuSeqLensKv', 'cuPagesK', 'cuPagesV'],
  ...['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv'].map(name => `raggedOffsets.${name}`),
]);

/** Allocates the results, uploads host operands, records the plan and submits. */
export function enqueue(ctx: GpuContext, call: EagerCall): Record<string, GpuTensor> {
  const { results, dropout } = call;
  const { fp8, ...others } = call.operands;
  const operands: [string, unknown][] = Object.entries(others as object).flatMap(([name, value]) =>
    name === 'captures'
      ? Object.entries(value).map(([capture, t]): [string, unknown] => [captureTensor(capture), t])
      : name === 'mxfp8'
        ? Object.entries(value).map(([tensor, t]): [string, unknown] => [`mxfp8.${tensor}`, t])
        : [[name, value]],
  );
  const given = new Map<string, GpuTensor>();
  for (const [name, tensor] of operands) {
    if (tensor instanceof GpuTensor) given.set(name, checkPlaced(ctx, name, tensor));
  }
  if (fp8) for (const [name, scalar] of fp8GpuScalars(ctx, fp8)) given.set(name, scalar);
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
    const { result: outputs, fault } = withFaults(ctx.device, () => {
      const buffers: Record<string, BufferSlice> = {};
      for (const [name, { buffer, byteOffset }] of given) buffers[name] = { buffer, offset: byteOffset };
      const made = Object.entries(results).map(([name, result]) => ({
        name,
        result,
        buffer: take(elementCount(result.desc.shape) * dtypeTraits[result.desc.dtype].bytes),
      }));
      for (const { name, buffer } of made) buffers[name] = { buffer };
      const workspace = plan.workspaceBytes > 0 ? ctx.takeBuffer(plan.workspaceBytes) : null;
      if (workspace) buffers.workspace = { buffer: workspace };
      const hasList = plan.tensors.some(({ name }) => name === 'fp8');
      const fp8List = hasList ? ctx.takeBuffer(fp8ListBytes) : null;
      if (fp8List) buffers.fp8 = { buffer: fp8List };
      try {
        const encoder = ctx.device.createCommandEncoder({ label: 'tilewise' });
        for (const { buffer, result } of made) fill(ctx, encoder, buffer, result);
        if (fp8List) fillFp8List(ctx, encoder, fp8List, fp8);
        const words = dropout?.kind === 'philox' ? { seed: dropout.seed, offset: dropout.offset } : {};
        plan.encode(encoder, buffers, words);
        if (fp8List) readFp8List(encoder, fp8List, made);
        ctx.device.queue.submit([encoder.finish()]);
        plan.retire();
      } finally {
        for (const buffer of [workspace, fp8List]) if (buffer) ctx.giveBuffer(buffer);
      }
      return made;
    });
    const faults = Promise.all([fault, ...[...given.values()].map(tensor => tensor.fault)]).then(all =>
      all.find(f => f !== undefined),
    );
    return Object.fromEntries(
      outputs.map(({ name, result, buffer }) => {
        return [name, new GpuTensor(ctx, { buffer, byteOffset: 0, owned: true }, result.desc, faults)];
      }),
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
  ctx: GpuContext,
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

function checkPlaced(ctx: GpuContext, name: string, tensor: GpuTensor): GpuTensor {
  const { shape, strides } = ctx.checkOwn(name, tensor);
  if (inLine.has(name) && !isContiguous(shape, strides)) {
    throw new UnsupportedError('webgpu', [
      `${name} must be contiguous on the GPU, got strides [${strides}] for shape [${shape}]`,
    ]);
  }
  return tensor;
}

function remembered(ctx: GpuContext, { key, plan }: EagerCall, unaligned: readonly string[]): Plan {
  let known = plans.get(ctx);
  if (!known) {
    known = new Map();
    plans.set(ctx, known);
  }
  const name = JSON.stringify([key, unaligned], (field, value) =>
    field === 'seed' || field === 'offset' ? 0 : value,
  );
  const old = known.get(name);
  if (old) {
    // The least recently used goes first.
    known.delete(name);
    known.set(name, old);
    return old;
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
