import { normalise, normaliseBackward, Tensor } from '@tilewise/core';
import { type GpuContext, planSdpa, planSdpaBackward, sdpa, sdpaBackward } from '@tilewise/webgpu';
import { parseShapes, type Shape4 } from '../attention-case.ts';
import { normalInputs } from '../normal-inputs.ts';
import { openWebGpu } from '../open-webgpu.ts';
import { checkBackward, checkForward, sampleRows } from '../sampled-reference.ts';
import { type Suite, WrongResult } from '../suite.ts';
import type { Row } from '../table.ts';

const usual: Shape4 = [1, 2, 4096, 64];
const long: Shape4 = [1, 1, 65_536, 64];

/** Bytes that a context may hold at most, tensors of the call included: so many for each element of q. */
const bytesPerElement = 122;

const megabytes = (bytes: number): number => bytes / 1e6;

const elements = (shape: Shape4): number => shape.reduce((n, extent) => n * extent, 1);

/** How much GPU memory attention takes: in proportion to S, where the scores would take S². */
export const memory: Suite = {
  name: 'memory',
  summary: `peak of GPU buffers, f32, which may be ${bytesPerElement} bytes for each element of q at any S: 64 MB at ${usual.join('×')}, where the scores would be 134 MB`,
  options: {
    full: { meaning: 'every query sees every key, instead of causal' },
    shapes: {
      value: 'BxHxSxD,…',
      meaning: `what to run, instead of ${usual.join('x')}; ${long.join('x')} is planned without being run`,
    },
  },
  async run({ full, shapes }, progress) {
    const causal = full !== true;
    const list = typeof shapes === 'string' ? parseShapes(shapes) : [usual];
    const { ctx, label, close } = await openWebGpu();
    try {
      const rows: Row[] = [];
      for (const shape of list) rows.push(...(await measure(ctx, shape, causal, progress)));
      if (typeof shapes !== 'string') rows.push(...planned(ctx, long, causal));
      return rows.map(row => ({ ...row, adapter: label.adapter }));
    } finally {
      close();
    }
  },
};

function rowOf(
  shape: Shape4,
  causal: boolean,
  pass: string,
  how: 'measured' | 'planned',
  bytes: number,
): Row {
  const allowed = bytesPerElement * elements(shape);
  if (bytes > allowed) {
    throw new WrongResult(`${pass} held ${megabytes(bytes)} MB, more than ${megabytes(allowed)} MB`);
  }
  const [B, H, S] = shape;
  return {
    ...{ 'B×H×S×D': shape.join('×'), mask: causal ? 'causal' : 'full', pass, how },
    ...{ 'peak MB': megabytes(bytes), 'allowed MB': megabytes(allowed) },
    ...{ 'bytes per element of q': bytes / elements(shape), 'scores MB': megabytes(4 * B * H * S * S) },
  };
}

/** What plans take: their tensors, which the caller holds, and their workspace. */
function planned(ctx: GpuContext, shape: Shape4, causal: boolean): Row[] {
  const [B, H, S] = shape;
  const q = Tensor.zeros(shape);
  const lse = Tensor.zeros([B, H, S]);
  const forward = planSdpa(ctx, normalise({ q, k: q, v: q }, { causal }).problem);
  const operands = { q, k: q, v: q, o: q, dO: q, lse };
  const backward = planSdpaBackward(ctx, normaliseBackward(operands, { causal }).problem);
  return Object.entries({ forward, backward }).map(([pass, { tensors, workspaceBytes }]) => {
    const bytes = tensors.reduce((sum, tensor) => sum + tensor.bytes, workspaceBytes);
    return rowOf(shape, causal, pass, 'planned', bytes);
  });
}

async function measure(
  ctx: GpuContext,
  shape: Shape4,
  causal: boolean,
  progress: (text: string) => void,
): Promise<Row[]> {
  const { q, k, v, dO } = normalInputs(['q', 'k', 'v', 'dO'], shape);
  const call = { q, k, v, causal };
  const places = sampleRows(call, 14);
  ctx.trim();
  ctx.resetPeakMemory();
  const [gq, gk, gv] = [q, k, v].map(tensor => ctx.upload(tensor));

  progress(`forward of ${shape.join('×')}`);
  const forward = sdpa(ctx, gq, gk, gv, { causal });
  const [o, lse] = await Promise.all([ctx.download(forward.o), ctx.download(forward.lse)]);
  progress(`checking ${places.length} rows`);
  checkForward(call, { o, lse }, places);
  const forwardPeak = ctx.memory.peak;

  progress(`backward of ${shape.join('×')}`);
  ctx.trim();
  ctx.resetPeakMemory();
  const gdO = ctx.upload(dO);
  const gradients = sdpaBackward(ctx, { q: gq, k: gk, v: gv, ...forward, dO: gdO }, { causal });
  await ctx.device.queue.onSubmittedWorkDone();
  const backwardPeak = ctx.memory.peak;
  const made = [gradients.dq, gradients.dk, gradients.dv];
  const [dq, dk, dv] = await Promise.all(made.map(tensor => ctx.download(tensor)));
  progress(`checking ${places.length} rows`);
  checkBackward(call, { o, lse, dO, dq, dk, dv }, places);
  for (const tensor of [gq, gk, gv, gdO, forward.o, forward.lse, ...made]) ctx.release(tensor);
  return [
    rowOf(shape, causal, 'forward', 'measured', forwardPeak),
    rowOf(shape, causal, 'backward', 'measured', backwardPeak),
  ];
}
