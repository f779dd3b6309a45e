import { elementCount, normalise, normaliseBackward, Tensor } from '@tilewise/core';
import { normalInputs } from '@tilewise/device-report/measure';
import {
  createContext,
  type GpuContext,
  type GpuTensor,
  type Plan,
  planSdpa,
  planSdpaBackward,
  sdpa,
  sdpaBackward,
} from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { type BufferCount, countBuffers } from '../../gpu/buffer-count.ts';
import { openWebGpu } from '../../gpu/open-webgpu.ts';
import { type Suite, UsageError, WrongResult } from '../../suite/suite.ts';
import type { Row } from '../../suite/table.ts';
import { parseShapes, type Shape4 } from '../../workloads/attention/attention-case.ts';
import { checkBackward, checkForward, sampleRows } from '../../workloads/attention/sampled-reference.ts';

const usual: Shape4 = [1, 2, 4096, 64];
const lengths = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];

/**
 * The maximum memory of a run, in bytes: eight f32 tensors of the shape of q (q, k, v, o, dO, dq,
 * dk, dv), lse and delta for each row, a quarter more for workspace and for buffers whose sizes are rounded
 * up by up to an eighth, and the kernels' parameters.
 */
function allowedBytes([B, H, S, D]: Shape4): number {
  return 1.25 * (8 * 4 * B * H * S * D + 2 * 4 * B * H * S) + 2 ** 14;
}

const megabytes = (bytes: number): number => bytes / 1e6;

/** The keys that queries see. */
interface Seen {
  readonly causal: boolean;
  readonly window?: { readonly left: number };
}

/** How much GPU memory attention takes: in proportion to S, where the scores would take S². */
export const memory: Suite = {
  name: 'memory',
  summary:
    'GPU buffers of forward and backward in f32 (limit: a quarter more than the tensors, at any S): as the plans predict, and as counted ' +
    "where the device creates them, in a run and on Dawn's null backend, which computes nothing",
  options: {
    full: { meaning: 'every query sees every key, instead of causal' },
    window: { value: 'N', meaning: 'a causal query sees N keys before its own' },
    shapes: {
      value: 'BxHxSxD,…',
      meaning: `shapes to run; default: run ${usual.join('x')}, and count 1x1xSx64 up to ${lengths.at(-1)}`,
    },
  },
  async *run({ full, window, shapes }, progress) {
    const seen = seenOf(full === true, window);
    const list = typeof shapes === 'string' ? parseShapes(shapes) : [usual];
    const { ctx, device, label, close } = await openWebGpu();
    try {
      const count = countBuffers(device);
      for (const shape of list) yield measure(ctx, count, shape, seen, label.adapter, progress);
      if (typeof shapes === 'string') return;
      progress('counting');
      yield* await counted(ctx, seen);
    } finally {
      await close();
    }
  },
};

function seenOf(full: boolean, window: string | boolean | undefined): Seen {
  if (window === undefined) return { causal: !full };
  const left = Number(window);
  if (full || !Number.isSafeInteger(left) || left < 0) {
    throw new UsageError(
      `--window must be a whole number and cannot be combined with --full, got '${window}'.`,
    );
  }
  return { causal: true, window: { left } };
}

function rowOf(shape: Shape4, seen: Seen, planned: number, held: number, adapter: string): Row {
  const allowed = allowedBytes(shape);
  if (held > allowed) {
    throw new WrongResult(
      `${shape.join('×')} held ${megabytes(held)} MB, more than ${megabytes(allowed)} MB`,
    );
  }
  const [B, H, S] = shape;
  const mask = seen.window ? `causal, ${seen.window.left} before` : seen.causal ? 'causal' : 'full';
  return {
    ...{ 'B×H×S×D': shape.join('×'), mask, pass: 'forward + backward' },
    ...{ 'planned MB': megabytes(planned), 'created MB': megabytes(held), 'allowed MB': megabytes(allowed) },
    'bytes per element of q': held / elementCount(shape),
    ...{ 'scores MB': megabytes(4 * B * H * S * S), adapter },
  };
}

/** The bytes of the plans of both passes: the tensors, which the caller holds, and the larger workspace. */
function plannedBytes(ctx: GpuContext, shape: Shape4, seen: Seen): number {
  const [B, H, S] = shape;
  const q = Tensor.zeros(shape);
  const lse = Tensor.zeros([B, H, S]);
  const forward = planSdpa(ctx, normalise({ q, k: q, v: q }, seen).problem);
  const operands = { q, k: q, v: q, o: q, dO: q, lse };
  const backward = planSdpaBackward(ctx, normaliseBackward(operands, seen).problem);
  // Backward has all tensors of forward, and more.
  const tensors = backward.tensors.reduce((sum, { bytes }) => sum + bytes, 0);
  const workspace = Math.max(...[forward, backward].map(({ workspaceBytes }: Plan) => workspaceBytes));
  for (const plan of [forward, backward]) plan.destroy();
  return tensors + workspace;
}

/** Forward and backward as a training step calls them, which keeps all tensors. */
function step(
  ctx: GpuContext,
  [q, k, v, dO]: readonly Tensor[],
  seen: Seen,
): Record<'q' | 'k' | 'v' | 'o' | 'lse' | 'dO' | 'dq' | 'dk' | 'dv', GpuTensor> {
  const given = { q: ctx.upload(q), k: ctx.upload(k), v: ctx.upload(v), dO: ctx.upload(dO) };
  const { o, lse } = sdpa(ctx, given.q, given.k, given.v, seen);
  const { dq, dk, dv } = sdpaBackward(ctx, { ...given, o, lse }, seen);
  return { ...given, o, lse, dq, dk, dv };
}

/** The bytes for every length, as the eager functions allocate them on a backend that computes nothing. */
async function counted(ctx: GpuContext, seen: Seen): Promise<Row[]> {
  const { adapter, description } = await openGpu({ backend: 'null' });
  const limits = ['maxBufferSize', 'maxStorageBufferBindingSize'] as const;
  const requiredLimits = Object.fromEntries(limits.map(name => [name, adapter.limits[name]]));
  const device = await adapter.requestDevice({ requiredLimits });
  const count = countBuffers(device);
  const allocating = await createContext({ device });
  try {
    const rows: Row[] = [];
    for (const S of lengths) {
      const shape = [1, 1, S, 64] as const;
      const q = Tensor.zeros(shape);
      allocating.trim();
      count.restart();
      const tensors = step(allocating, [q, q, q, q], seen);
      // Until a call is submitted, it keeps the buffers that it uses.
      await allocating.submitted();
      rows.push(rowOf(shape, seen, plannedBytes(ctx, shape, seen), count.peak, description));
      for (const tensor of Object.values(tensors)) tensor.destroy();
    }
    return rows;
  } finally {
    allocating.destroy();
    device.destroy();
  }
}

/** Runs a shape, checks the results, and counts the bytes that were created until the results were there. */
async function measure(
  ctx: GpuContext,
  count: BufferCount,
  shape: Shape4,
  seen: Seen,
  adapter: string,
  progress: (text: string) => void,
): Promise<Row> {
  const { q, k, v, dO } = normalInputs(['q', 'k', 'v', 'dO'], shape);
  const call = { q, k, v, causal: seen.causal, left: seen.window?.left };
  const places = sampleRows(call, 14);
  progress(`forward and backward of ${shape.join('×')}`);
  ctx.trim();
  count.restart();
  const tensors = step(ctx, [q, k, v, dO], seen);
  await ctx.submitted();
  await ctx.device.queue.onSubmittedWorkDone();
  const held = count.peak;
  const names = ['o', 'lse', 'dq', 'dk', 'dv'] as const;
  const [o, lse, dq, dk, dv] = await Promise.all(names.map(name => ctx.download(tensors[name])));
  progress(`checking ${places.length} rows`);
  checkForward(call, { o, lse }, places);
  checkBackward(call, { o, lse, dO, dq, dk, dv }, places);
  for (const tensor of Object.values(tensors)) ctx.release(tensor);
  return rowOf(shape, seen, plannedBytes(ctx, shape, seen), held, adapter);
}
