import { cost, normaliseBackward, Tensor } from '@tilewise/core';
import { sdpa, sdpaBackward } from '@tilewise/core/cpu';
import { naiveAttention } from '@tilewise/naive-attention';
import { type GpuContext, type GpuTensor, type Plan, planSdpa, planSdpaBackward } from '@tilewise/webgpu';
import { type GpuClock, gpuClock } from '@tilewise/webgpu/tune';
import { timePasses } from '../timing/rounds.ts';
import { errorOf, isRight } from './accuracy.ts';
import { forwardProblem, headOf, measuredInputs } from './inputs.ts';
import type { Machine, Measurement, MeasureSettings } from './measurement.ts';

/** A device as a machine; `software` if a CPU emulates the GPU. */
export function gpuMachine({ device }: GpuContext, software: boolean): Machine {
  const { description, vendor, architecture } = device.adapterInfo;
  return {
    engine: 'webgpu',
    description: description || [vendor, architecture].filter(Boolean).join(' '),
    software,
    clock: device.features.has('timestamp-query') ? 'timestamps' : 'wall clock',
  };
}

/**
 * Measures one sequence length: the flash kernels, then attention with stored scores, forward and backward.
 */
export async function* measureOnGpu(
  ctx: GpuContext,
  settings: MeasureSettings,
  heads: number,
  S: number,
): AsyncGenerator<Measurement> {
  const inputs = measuredInputs(heads, S, settings);
  const clock = gpuClock(ctx.device);
  const own = new Tensors(ctx);
  try {
    const of = { ...settings, heads, S };
    yield* flashRows({ own, clock, check: checkOf(inputs, settings.causal) }, of);
    own.release();
    yield* naiveRows({ own, clock, check: checkOf(inFloats(inputs), settings.causal) }, of);
  } finally {
    own.release();
    clock.destroy();
    ctx.trim();
  }
}

type Untimed = Omit<Measurement, 'ms' | 'error' | 'failure'>;

type Inputs = ReturnType<typeof measuredInputs>;

/** The tensors of a measurement on the device, its clock, and what results are compared with. */
interface Bench {
  readonly own: Tensors;
  readonly clock: GpuClock;
  readonly check: Check;
}

/** The settings with the shape (1, heads, S, D) of the tensors. */
interface ShapedSettings extends MeasureSettings {
  readonly heads: number;
  readonly S: number;
}

async function* flashRows(
  bench: Bench,
  { causal, dtype, D, heads, S }: ShapedSettings,
): AsyncGenerator<Measurement> {
  const { own, check } = bench;
  const { ctx } = own;
  const { inputs } = check;
  const shape = [1, heads, S, D];
  const forward = forwardProblem(inputs, causal);
  // The problem needs only shapes and dtypes, so these tensors stand in for results.
  const results = { o: inputs.q, lse: Tensor.zeros([1, heads, S]) };
  const { problem: backward } = normaliseBackward({ ...inputs, ...results }, { causal });
  const plans = { forward: planSdpa(ctx, forward), backward: planSdpaBackward(ctx, backward) };
  for (const [name, tensor] of Object.entries(inputs)) own.upload(name, tensor);
  for (const name of ['o', 'dq', 'dk', 'dv']) own.allocate(name, shape, dtype);
  own.allocate('lse', [1, heads, S], 'f32');
  for (const pass of ['forward', 'backward'] as const) {
    const plan = plans[pass];
    await plan.warmUp();
    own.allocate('workspace', [Math.max(1, Math.ceil(plan.workspaceBytes / 4))], 'f32');
    const encode = (target: GPUComputePassEncoder): void => plan.encode(target, own.buffers);
    const { flops } = cost(forward)[pass];
    const row = { implementation: 'flash', pass, heads, S, flops, bytes: bytesOf(plan) } as const;
    yield await checkedRow(bench, row, encode);
  }
}

async function* naiveRows(
  bench: Bench,
  { causal, D, heads, S }: ShapedSettings,
): AsyncGenerator<Measurement> {
  const { own, check } = bench;
  const { inputs } = check;
  const passes = await naiveAttention(own.ctx.device, { heads, S, D, causal }).catch((error: unknown) => {
    if (error instanceof RangeError) return null;
    throw error;
  });
  const problem = forwardProblem(inputs, causal);
  for (const pass of ['forward', 'backward'] as const) {
    const { flops } = cost(problem)[pass];
    const row = { implementation: 'naive', pass, heads, S, flops } as const;
    if (!passes) {
      const scores = (pass === 'forward' ? 1 : 2) * 4 * heads * S * S;
      yield { ...row, bytes: scores, failure: 'too large' };
      continue;
    }
    const { tensors, encode } = passes[pass];
    for (const { name, bytes } of tensors) {
      const input = Object.entries(inputs).find(([of]) => of === name);
      if (input) own.upload(name, input[1]);
      else own.allocate(name, [1, heads, S, bytes / (4 * heads * S)], 'f32');
    }
    const bytes = tensors.reduce((sum, t) => sum + t.bytes, 0);
    if (!(await own.areThere())) {
      yield { ...row, bytes, failure: 'too large' };
      continue;
    }
    const run = (target: GPUComputePassEncoder): void => encode(target, own.buffers);
    yield await checkedRow(bench, { ...row, bytes }, run);
  }
}

/** Runs a pass, compares the last head with the CPU engine, and times the pass if it is right. */
async function checkedRow(
  { own, clock, check: { inputs, exact } }: Bench,
  row: Untimed,
  encode: (pass: GPUComputePassEncoder) => void,
): Promise<Measurement> {
  const [{ median: ms }] = await timePasses(clock, [encode], { ms: 100 });
  const names = row.pass === 'forward' ? (['o'] as const) : (['dq', 'dk', 'dv'] as const);
  let error = 0;
  for (const name of names) {
    const got = await own.download(name);
    error = Math.max(error, errorOf(headOf(got, row.heads - 1), exact()[name]));
  }
  if (!isRight(error, inputs.q.dtype)) return { ...row, error, failure: 'wrong' };
  return { ...row, error, ms };
}

/** The expected results: the CPU engine's results for the last head, computed when they are first needed. */
interface Check {
  readonly inputs: Inputs;
  readonly exact: () => Readonly<Record<'o' | 'dq' | 'dk' | 'dv', Tensor>>;
}

function checkOf(inputs: Inputs, causal: boolean): Check {
  let known: ReturnType<Check['exact']> | undefined;
  return {
    inputs,
    exact() {
      known ??= exactHead(inputs, causal);
      return known;
    },
  };
}

function exactHead(inputs: Inputs, causal: boolean): ReturnType<Check['exact']> {
  const [, heads = 1] = inputs.q.shape;
  const of = (tensor: Tensor): Tensor => headOf(tensor, heads - 1);
  const [q, k, v, dO] = [of(inputs.q), of(inputs.k), of(inputs.v), of(inputs.dO)];
  const { o, lse } = sdpa(q, k, v, { causal });
  const { dq, dk, dv } = sdpaBackward({ q, k, v, o, lse, dO }, { causal });
  return { o, dq, dk, dv };
}

function inFloats({ q, k, v, dO }: Inputs): Inputs {
  return { q: q.cast('f32'), k: k.cast('f32'), v: v.cast('f32'), dO: dO.cast('f32') };
}

const bytesOf = ({ tensors, workspaceBytes }: Plan): number =>
  tensors.reduce((sum, { bytes }) => sum + bytes, workspaceBytes);

/** The tensors of one measurement, by name. */
class Tensors {
  readonly ctx: GpuContext;
  readonly #tensors = new Map<string, GpuTensor>();

  constructor(ctx: GpuContext) {
    this.ctx = ctx;
  }

  get buffers(): Readonly<Record<string, GPUBuffer>> {
    return Object.fromEntries([...this.#tensors].map(([name, { buffer }]) => [name, buffer]));
  }

  /** Keeps a tensor that exists already. */
  upload(name: string, tensor: Tensor): void {
    if (!this.#tensors.has(name)) this.#tensors.set(name, this.ctx.upload(tensor));
  }

  allocate(name: string, shape: readonly number[], dtype: 'f32' | 'f16' | 'bf16'): void {
    const there = this.#tensors.get(name);
    if (there && `${there.shape}` === `${shape}`) return;
    there?.destroy();
    this.#tensors.set(name, this.ctx.allocate(shape, dtype));
  }

  /** Whether there was enough memory for all tensors. */
  async areThere(): Promise<boolean> {
    const faults = await Promise.all([...this.#tensors.values()].map(({ fault }) => fault));
    return faults.every(fault => fault === undefined);
  }

  download(name: string): Promise<Tensor> {
    const tensor = this.#tensors.get(name);
    if (!tensor) throw new Error(`there is no tensor ${name}`);
    return this.ctx.download(tensor);
  }

  release(): void {
    for (const tensor of this.#tensors.values()) tensor.destroy();
    this.#tensors.clear();
  }
}
