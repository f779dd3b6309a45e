import { type DType, elementCount, type SdpaBackwardOptions, type SdpaResult, Tensor } from '@tilewise/core';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '@tilewise/core/reference';
import { fillNormal } from '@tilewise/philox';
import { type GpuContext, type GpuTensor, sdpa, sdpaBackward } from '../../src/index.ts';

/** The inputs of one forward and one backward call. */
export interface AttentionCall {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly dO: Tensor;
  readonly dLse?: Tensor;
  readonly options?: SdpaBackwardOptions<Tensor>;
}

/** The requested results by name: o, lse, max, sumExp, dq, dk, dv, dbias, dsink, dAlibi, dCaptures.NAME. */
export type Results = Readonly<Record<string, Tensor>>;

/** Normally distributed numbers, determined by `seed`. */
export function normal(shape: readonly number[], seed: number, dtype: DType = 'f32'): Tensor {
  const count = elementCount(shape);
  return Tensor.from(fillNormal(new Float32Array(count), { seed }), shape, { dtype });
}

/** The results of the float64 reference. */
export function exactResults({ q, k, v, dO, dLse, options }: AttentionCall): Results {
  const forward = exactSdpa(q, k, v, options);
  const { o, lse } = forward;
  return named({ ...forward, ...exactSdpaBackward({ q, k, v, o, lse, dO, dLse }, options) });
}

/**
 * The results of the GPU's forward alone: on a software adapter, most of the time of a test goes into
 * compiling the kernels of backward.
 */
export async function gpuForward(ctx: GpuContext, call: Omit<AttentionCall, 'dO'>): Promise<Results> {
  const [q, k, v] = [call.q, call.k, call.v].map(t => ctx.upload(t));
  const results = Object.entries(sdpa(ctx, q, k, v, call.options));
  const downloaded: Record<string, Tensor> = {};
  for (const [name, tensor] of results) if (tensor) downloaded[name] = await ctx.download(tensor);
  for (const tensor of [q, k, v, ...results.map(([, tensor]) => tensor)]) tensor?.destroy();
  return downloaded;
}

/**
 * The results of the GPU. Backward uses o and lse of `given`, so that two engines can be compared on the same
 * inputs; without `given`, those that the GPU's own forward computed.
 */
export async function gpuResults(ctx: GpuContext, call: AttentionCall, given?: Results): Promise<Results> {
  const { options } = call;
  const [q, k, v, dO] = [call.q, call.k, call.v, call.dO].map(t => ctx.upload(t));
  const forward: SdpaResult<GpuTensor> = sdpa(ctx, q, k, v, options);
  const o = given ? ctx.upload(given.o) : forward.o;
  const lse = given ? ctx.upload(given.lse) : forward.lse;
  const dLse = call.dLse && ctx.upload(call.dLse);
  const gradients = sdpaBackward(ctx, { q, k, v, o, lse, dO, ...(dLse ? { dLse } : {}) }, options);
  const { dCaptures, ...plain } = gradients;
  const results: Record<string, GpuTensor | undefined> = { ...forward, ...plain, ...prefixed(dCaptures) };
  const downloaded: Record<string, Tensor> = {};
  for (const [name, tensor] of Object.entries(results)) {
    if (tensor) downloaded[name] = await ctx.download(tensor);
  }
  for (const tensor of [q, k, v, dO, o, lse, dLse, ...Object.values(results)]) tensor?.destroy();
  return downloaded;
}

function named({ dCaptures, ...results }: { readonly dCaptures?: Results }): Results {
  const all: [string, unknown][] = Object.entries(results);
  const plain = all.filter((entry): entry is [string, Tensor] => entry[1] instanceof Tensor);
  return { ...Object.fromEntries(plain), ...prefixed(dCaptures) };
}

/** Names the gradients of captured tensors as they are named among the other results. */
function prefixed<T>(dCaptures: Readonly<Record<string, T>> = {}): Record<string, T> {
  return Object.fromEntries(Object.entries(dCaptures).map(([name, t]) => [`dCaptures.${name}`, t]));
}
