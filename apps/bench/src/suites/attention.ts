import { cost, type Engine, normalise, type TensorDesc } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { webgpuEngine } from '@tilewise/webgpu';
import { normalInputs } from '../normal-inputs.ts';
import { openWebGpu } from '../open-webgpu.ts';
import { checkBackward, checkForward, sampleRows } from '../sampled-reference.ts';
import { type Suite, UsageError } from '../suite.ts';
import type { Row } from '../table.ts';
import { time } from '../timing.ts';

const engineNames = ['cpu', 'webgpu'] as const;
type EngineName = (typeof engineNames)[number];
type Shape4 = readonly [B: number, H: number, S: number, D: number];

const quickShapes = '1x4x128x64,1x4x512x64';

/** Speed of the engines, forward and backward. */
export const attention: Suite = {
  name: 'attention',
  summary: 'forward and backward in f32; GFLOP/s count 2 and 5 matrix products on visible pairs',
  options: {
    engine: { value: engineNames.join('|'), meaning: 'one engine only' },
    shapes: { value: 'BxHxSxD,…', meaning: `what to run, instead of ${quickShapes}` },
    causal: { meaning: 'query i sees keys ≤ i' },
  },
  async run({ engine, shapes, causal }, progress) {
    const chosen = engine === undefined ? engineNames : engineNames.filter(name => name === engine);
    if (chosen.length === 0)
      throw new UsageError(`--engine is one of ${engineNames.join(', ')}, not '${engine}'.`);
    const list = parseShapes(typeof shapes === 'string' ? shapes : quickShapes);
    const rows: Row[] = [];
    for (const name of chosen) rows.push(...(await runEngine(name, list, causal === true, progress)));
    return rows;
  },
};

function parseShapes(text: string): Shape4[] {
  return text.split(',').map(item => {
    const parts = item.trim().split(/[x×]/).map(Number);
    if (parts.length !== 4 || !parts.every(n => Number.isInteger(n) && n >= 1)) {
      throw new UsageError(`--shapes takes shapes such as 1x4x512x64, not '${item}'.`);
    }
    return [parts[0], parts[1], parts[2], parts[3]];
  });
}

async function runEngine(
  name: EngineName,
  shapes: readonly Shape4[],
  causal: boolean,
  progress: (text: string) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  if (name === 'cpu') {
    for (const shape of shapes)
      rows.push(await measure(cpuEngine(), async () => {}, shape, causal, progress));
    return rows;
  }
  const { ctx } = await openWebGpu();
  try {
    const finish = () => ctx.device.queue.onSubmittedWorkDone();
    for (const shape of shapes) rows.push(await measure(webgpuEngine(ctx), finish, shape, causal, progress));
    return rows;
  } finally {
    ctx.destroy();
  }
}

/** @param finish waits until what was enqueued is done. */
async function measure<T extends TensorDesc>(
  engine: Engine<T>,
  finish: () => Promise<unknown>,
  shape: Shape4,
  causal: boolean,
  progress: (text: string) => void,
): Promise<Row> {
  const label = `${engine.name} ${shape.join('x')}`;
  const host = normalInputs(['q', 'k', 'v', 'dO'], shape);
  const call = { ...host, causal };
  const places = sampleRows(call, 6);
  const [q, k, v, dO] = [host.q, host.k, host.v, host.dO].map(tensor => engine.upload(tensor));
  const options = { causal };
  const { forward: forwardCost, backward: backwardCost } = cost(normalise({ q, k, v }, options).problem);

  progress(`${label} forward`);
  const { o, lse } = await engine.sdpa(q, k, v, options);
  const results = { o: await engine.download(o), lse: await engine.download(lse) };
  checkForward(call, results, places);
  const forward = await time(async () => {
    const result = await engine.sdpa(q, k, v, options);
    await finish();
    engine.release(result.o);
    engine.release(result.lse);
  });

  progress(`${label} backward`);
  const inputs = { q, k, v, o, lse, dO };
  const { dq, dk, dv } = await engine.sdpaBackward(inputs, options);
  const [hostDq, hostDk, hostDv] = await Promise.all([dq, dk, dv].map(tensor => engine.download(tensor)));
  checkBackward(call, { ...results, dO: host.dO, dq: hostDq, dk: hostDk, dv: hostDv }, places);
  const backward = await time(async () => {
    const gradients = await engine.sdpaBackward(inputs, options);
    await finish();
    for (const gradient of [gradients.dq, gradients.dk, gradients.dv]) engine.release(gradient);
  });

  for (const tensor of [q, k, v, dO, o, lse, dq, dk, dv]) engine.release(tensor);
  return {
    ...{ engine: engine.name, 'B×H×S×D': shape.join('×'), mask: causal ? 'causal' : 'full' },
    ...{ 'fwd ms': forward.median, 'fwd GFLOP/s': forwardCost.flops / forward.median / 1e6 },
    ...{ 'bwd ms': backward.median, 'bwd GFLOP/s': backwardCost.flops / backward.median / 1e6 },
    on: engine.description,
  };
}
