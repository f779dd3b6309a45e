import { normalise, type Tensor } from '@tilewise/core';
import { copyBandwidth, normalInputs, timePasses } from '@tilewise/device-report/measure';
import { planSdpa } from '@tilewise/webgpu';
import { gpuClock } from '@tilewise/webgpu/tune';
import { bufferOf, copiesBeyondCaches, emptyBuffer, readBuffer } from '../../gpu/buffers.ts';
import { kernelVariants } from '../../gpu/kernel-variant.ts';
import { type BenchGpu, openWebGpu, toggleOption } from '../../gpu/open-webgpu.ts';
import { raiseClocks } from '../../gpu/raise-clocks.ts';
import { type EncodePlan, traceOnce } from '../../gpu/trace-once.ts';
import { parseChoices } from '../../suite/parse-choices.ts';
import { type Suite, UsageError } from '../../suite/suite.ts';
import type { Row } from '../../suite/table.ts';
import { type CaseDType, toleranceOf } from '../../workloads/attention/attention-case.ts';
import type { SampledCall } from '../../workloads/attention/exact-rows.ts';
import { checkForward, sampleRows } from '../../workloads/attention/sampled-reference.ts';
import { continueTexts, generationOptions } from '../../workloads/decoding/continue-texts.ts';

const [Hq, Hk, D] = [32, 8, 128];
const dtypes = ['f32', 'f16', 'bf16'] as const;

/** One query against many keys: how much of the memory bandwidth is used. */
export const decode: Suite = {
  name: 'decode',
  summary: `tokens per second after 1,000 tokens of text, next to onnxruntime-web on the same weights (target: 1); and one query of ${Hq} heads against keys and values of ${Hk}, D = ${D}: bytes of K and V a second, as a fraction of a copy's (target: 0.6)`,
  options: {
    ...generationOptions,
    keys: { value: 'N', meaning: 'keys, instead of 32768 on a GPU and 4096 on a CPU' },
    dtypes: { value: dtypes.join(','), meaning: 'storage dtypes; default f32 and f16' },
    ...toggleOption,
  },
  async *run(options, progress) {
    yield* continueTexts(options, progress);
    if (options.engine !== undefined) return;
    const bench = await openWebGpu(options);
    try {
      const { keys = bench.kind === 'hardware' ? '32768' : '4096', dtypes: stored = 'f32,f16' } = options;
      const S = Number(keys);
      if (!Number.isSafeInteger(S) || S < 1) {
        throw new UsageError(`--keys must be a whole number of at least 1, got '${keys}'.`);
      }
      const chosen = parseChoices<CaseDType>('dtypes', String(stored), dtypes);
      const clock = gpuClock(bench.device);
      progress('copy bandwidth');
      const copied = await copyBandwidth(bench.ctx, clock, bench.peakWork.copiedBytes);
      for (const dtype of chosen) {
        progress(`${S} keys in ${dtype}`);
        yield measure(bench, S, dtype, copied);
      }
      clock.destroy();
    } finally {
      await bench.close();
    }
  },
};

async function measure(bench: BenchGpu, S: number, dtype: CaseDType, copied: number): Promise<Row> {
  const { ctx, device, label } = bench;
  const { q } = castAll(normalInputs(['q'], [1, Hq, 1, D]), dtype);
  const { k, v } = castAll(normalInputs(['k', 'v'], [1, Hk, S, D]), dtype);
  const plan = planSdpa(ctx, normalise({ q, k, v }).problem);
  const bytes = k.data.byteLength + v.data.byteLength;
  const copies = Array.from({ length: copiesBeyondCaches(bytes) }, () => ({
    ...{ k: bufferOf(device, k), v: bufferOf(device, v) },
  }));
  const shared = {
    ...{
      q: bufferOf(device, q),
      o: emptyBuffer(device, q.data.byteLength),
      lse: emptyBuffer(device, 4 * Hq),
    },
    workspace: emptyBuffer(device, plan.workspaceBytes),
  };
  const clock = gpuClock(device);
  const encode: EncodePlan = (target, round) =>
    plan.encode(target, { ...shared, ...copies[round % copies.length] });
  await clock.once(encode, 0);

  const f32 = (t: Tensor): Tensor => t.cast('f32');
  const call: SampledCall = { q: f32(q), k: f32(k), v: f32(v), causal: false };
  const results = { o: q.cast(dtype), lse: normalInputs(['lse'], [1, Hq, 1]).lse };
  for (const name of ['o', 'lse'] as const) {
    const { data } = results[name];
    new Uint8Array(data.buffer).set(new Uint8Array(await readBuffer(device, shared[name], data.byteLength)));
  }
  checkForward(
    call,
    { o: f32(results.o), lse: results.lse },
    sampleRows(call, 6),
    toleranceOf(dtype).forward,
  );

  await raiseClocks(bench, clock, encode);
  const [{ median }] = await timePasses(clock, [encode]);
  await traceOnce(ctx, [encode]);
  const kernels = kernelVariants(plan.kernels);
  plan.destroy();
  clock.destroy();
  for (const buffer of [...Object.values(shared), ...copies.flatMap(Object.values)]) buffer.destroy();
  const speed = bytes / median / 1e6;
  return {
    ...{ keys: S, dtype, ms: median, 'GB/s': speed, 'of the copy': speed / copied },
    ...{ timer: clock.kind, kernels, ...label },
  };
}

function castAll<N extends string>(tensors: Record<N, Tensor>, dtype: CaseDType): Record<N, Tensor> {
  const entries = Object.entries<Tensor>(tensors).map(([name, tensor]) => [name, tensor.cast(dtype)]);
  return Object.fromEntries(entries);
}
