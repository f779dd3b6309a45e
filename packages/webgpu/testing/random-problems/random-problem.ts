import { normalise, normaliseBackward, type SdpaBackwardOptions, Tensor } from '@tilewise/core';
import { callerShape, rowShape } from '@tilewise/core/engine';
import { modOf } from '@tilewise/core/expr';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '@tilewise/core/reference';
import {
  allowedError,
  largestError,
  type RandomCall,
  type RandomProblem,
  randomCall,
} from '@tilewise/test-data/random-problem';
import { checkSupport, type GpuContext, type GpuTensor, sdpa, sdpaBackward } from '../../src/index.ts';

type Options<T> = SdpaBackwardOptions<T>;

const hostCall = (problem: RandomProblem): RandomCall<Tensor> =>
  randomCall(problem, data => Tensor.wrap(data.data, data), modOf<Tensor>);

/** Whether a device can run a problem: forward and, if there is one, backward. */
export function isSupported(ctx: GpuContext, problem: RandomProblem): boolean {
  const { q, k, v, dO, dLse, ...rest } = hostCall(problem);
  const options = rest.options as Options<Tensor>;
  const forward = normalise({ q, k, v }, options).problem;
  if (!checkSupport(ctx, forward).supported) return false;
  if (!problem.backward) return true;
  const lse = Tensor.zeros(rowShape(forward));
  const o = Tensor.zeros(callerShape(forward.o), { dtype: forward.o.dtype });
  return checkSupport(ctx, normaliseBackward({ q, k, v, o, lse, dO, dLse }, options).problem).supported;
}

/**
 * Compares the GPU with the reference on a problem, and returns a line for each result that differs. Backward
 * uses the reference's o and lse on both. Tensors of the options are on the host or, in every other problem,
 * on the GPU.
 */
export async function disagreements(ctx: GpuContext, problem: RandomProblem): Promise<string[]> {
  try {
    return await compare(ctx, problem);
  } catch (error) {
    return [`it threw ${error instanceof Error ? (error.stack ?? error) : String(error)}`];
  }
}

async function compare(ctx: GpuContext, problem: RandomProblem): Promise<string[]> {
  const { q, k, v, dO, dLse, options } = hostCall(problem);
  const onHost = options as Options<Tensor>;
  const uploaded: GpuTensor[] = [];
  const upload = (t: Tensor): GpuTensor => {
    const copy = ctx.upload(t);
    uploaded.push(copy);
    return copy;
  };
  const given = problem.number % 2 === 0 ? onHost : withUploads(onHost, upload);
  const exact = exactSdpa(q, k, v, onHost);
  const inputs = { q: upload(q), k: upload(k), v: upload(v) };
  const got: object[] = [sdpa(ctx, inputs.q, inputs.k, inputs.v, given)];
  const want: object[] = [exact];
  if (problem.backward) {
    const { o, lse } = exact;
    want.push(exactSdpaBackward({ q, k, v, o, lse, dO, dLse }, onHost));
    const rows = { o: upload(o), lse: upload(lse), dO: upload(dO), dLse: dLse && upload(dLse) };
    got.push(sdpaBackward(ctx, { ...inputs, ...rows }, given));
  }
  const results = got.flatMap(tensorsOf<GpuTensor>);
  const found = new Map<string, Tensor>();
  for (const [name, tensor] of results) found.set(name, await ctx.download(tensor));
  for (const tensor of [...uploaded, ...results.map(([, tensor]) => tensor)]) tensor.destroy();

  const expected = new Map(want.flatMap(tensorsOf<Tensor>));
  const extra = [...found.keys()]
    .filter(name => !expected.has(name))
    .map(name => `${name} was not asked for`);
  return [...extra, ...[...expected].flatMap(([name, t]) => difference(name, found.get(name), t, problem))];
}

function difference(name: string, got: Tensor | undefined, want: Tensor, problem: RandomProblem): string[] {
  if (!got) return [`${name} is missing`];
  if (got.dtype !== want.dtype || String(got.shape) !== String(want.shape))
    return [`${name} is ${got.dtype} [${got.shape}], the reference has ${want.dtype} [${want.shape}]`];
  const exact = want.toFloat64();
  const error = largestError(got.toFloat64(), exact);
  const allowed = allowedError(name, want.dtype, exact, problem);
  return error <= allowed ? [] : [`${name} has an error of ${error}, allowed are ${allowed}`];
}

/** The tensors of a result by name, including those of captures. */
function tensorsOf<T extends { readonly dtype: string }>(results: object): [string, T][] {
  return Object.entries(results).flatMap(([name, value]): [string, T][] => {
    if (value === undefined) return [];
    if ('dtype' in value) return [[name, value]];
    return tensorsOf<T>(value).map(([key, t]) => [`${name}.${key}`, t]);
  });
}

/**
 * The options, with all tensors uploaded that may be on the GPU; lists stay on the host, where their longest
 * entry is read.
 */
function withUploads(
  options: Options<Tensor>,
  upload: (t: Tensor) => GpuTensor,
): Options<Tensor | GpuTensor> {
  const { bias, mask, dropout } = options;
  return {
    ...options,
    bias: bias && upload(bias),
    mask: mask && upload(mask),
    dropout: dropout && 'mask' in dropout ? { ...dropout, mask: upload(dropout.mask) } : dropout,
  };
}
