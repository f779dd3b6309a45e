import { cpuEngine } from '@tilewise/core/cpu';
import { measurePeak, type Peak, time, timePasses } from '@tilewise/device-report/measure';
import { gpuClock } from '@tilewise/webgpu/tune';
import { Comparison } from '../../comparison/comparison.ts';
import { implementationsIn, isPeer } from '../../comparison/implementations.ts';
import {
  type BenchGpu,
  deviceOptions,
  openWebGpu,
  tilesOption,
  toggleOption,
} from '../../gpu/open-webgpu.ts';
import { traceOnce } from '../../gpu/trace-once.ts';
import { parseChoices } from '../../suite/parse-choices.ts';
import { type Suite, type SuiteOptions, UsageError } from '../../suite/suite.ts';
import type { Row } from '../../suite/table.ts';
import {
  type AttentionCase,
  attentionCase,
  type CaseDType,
  caseColumns,
  parseShapes,
} from '../../workloads/attention/attention-case.ts';
import { attentionPlans } from '../../workloads/attention/attention-plans.ts';
import { checkResults } from '../../workloads/attention/check-results.ts';

const engines = ['cpu', 'webgpu'] as const;
const masks = ['full', 'causal'] as const;
const dtypes = ['f32', 'f16', 'bf16'] as const;

/**
 * Shapes that take a moment, by adapter: a CPU that emulates a GPU also runs attention with stored scores.
 */
const quickShapes = { cpu: '1x4x512x64', software: '1x4x256x64', hardware: '1x16x2048x128' } as const;

type Progress = (text: string) => void;

/** The speed of attention, forward and backward, beside the adapter's peak and other implementations. */
export const attention: Suite = {
  name: 'attention',
  summary:
    'forward and backward of the engines next to the peak of the adapter, and next to naive attention and peers on the same adapter; ' +
    'TFLOP/s count 2 and 5 matrix products of visible pairs',
  options: {
    engine: { value: engines.join('|'), meaning: 'one engine only' },
    shapes: {
      value: 'BxHxSxD,…',
      meaning: `shapes to run; default by adapter: ${Object.values(quickShapes).join(', ')}`,
    },
    masks: { value: masks.join(','), meaning: 'masks to run; default both' },
    dtypes: { value: dtypes.join(','), meaning: 'storage dtypes; default f32' },
    peers: {
      value: 'DIR',
      meaning:
        'a folder where onnxruntime-web, @jax-js/jax, @tensorflow/tfjs and @tensorflow/tfjs-backend-webgpu are installed, any of them',
    },
    timeout: {
      value: 'SECONDS',
      meaning: 'seconds to wait for an answer from a peer, which compiles its kernels first; default 240',
    },
    ...tilesOption,
    ...toggleOption,
  },
  async *run(options, progress) {
    const { engine } = options;
    const chosen = engine === undefined ? engines : engines.filter(name => name === engine);
    if (chosen.length === 0) {
      throw new UsageError(`--engine must be one of ${engines.join(', ')}, got '${engine}'.`);
    }
    const { peers, timeout = '240' } = options;
    if (!(Number(timeout) > 0))
      throw new UsageError(`--timeout must be a number of seconds, got '${timeout}'.`);
    if (typeof peers === 'string' && !implementationsIn(peers).some(isPeer))
      throw new UsageError(`--peers: no peer is installed in ${peers}`);
    const cases = casesOf(options, quickShapes.cpu);
    if (chosen.includes('cpu')) for (const make of cases) yield* await measureCpu(make(), progress);
    if (chosen.includes('webgpu')) yield* measureGpu(options, progress);
  },
};

/** Cases as functions, so that each is created when its turn comes, because its tensors are large. */
function casesOf(options: SuiteOptions, quick: string): (() => AttentionCase)[] {
  const text = (name: string, otherwise: string): string => {
    const given = options[name];
    return typeof given === 'string' ? given : otherwise;
  };
  const shapes = parseShapes(text('shapes', quick));
  const stored = parseChoices<CaseDType>('dtypes', text('dtypes', 'f32'), dtypes);
  const seen = parseChoices('masks', text('masks', masks.join(',')), masks);
  return shapes.flatMap(shape =>
    stored.flatMap(dtype => seen.map(mask => () => attentionCase(shape, dtype, mask === 'causal'))),
  );
}

/** A pass of an engine that was measured. */
interface MeasuredPass
  extends Readonly<Record<'engine' | 'kernels' | 'timer' | 'adapter' | 'features' | 'toggles', string>> {
  readonly pass: 'forward' | 'backward';
  readonly ms: number;
  /** The TFLOP/s of the adapter's peak, if it was measured. */
  readonly peak?: number;
}

/** One line of the table, with the same columns for engines and peers. */
function rowOf(of: AttentionCase, measured: MeasuredPass): Row {
  const { engine, pass, ms, peak, timer, kernels, adapter, features, toggles } = measured;
  const tflops = of.flops[pass] / ms / 1e9;
  return {
    ...{ engine, pass, ...caseColumns(of), ms, 'TFLOP/s': tflops },
    ...{ 'of peak': peak === undefined ? '' : tflops / peak, '× tilewise': '' },
    ...{ error: '', dispatches: '', note: '', timer, kernels, adapter, features, toggles },
  };
}

async function measureCpu(of: AttentionCase, progress: Progress): Promise<Row[]> {
  const { q, k, v, dO, causal, shape } = of;
  const engine = cpuEngine();
  progress(`cpu ${shape.join('x')} ${of.dtype}`);
  const { o, lse } = await engine.sdpa(q, k, v, { causal });
  const inputs = { q, k, v, o, lse, dO };
  const { dq, dk, dv } = await engine.sdpaBackward(inputs, { causal });
  checkResults(of, { o, lse, dq, dk, dv });
  const forward = await time(() => engine.sdpa(q, k, v, { causal }), { ms: 300 });
  const backward = await time(() => engine.sdpaBackward(inputs, { causal }), { ms: 300 });
  const label = { adapter: engine.description, features: '', toggles: '' };
  const common = { engine: 'cpu', timer: 'wall clock', kernels: '', ...label };
  return [
    rowOf(of, { ...common, pass: 'forward', ms: forward.median }),
    rowOf(of, { ...common, pass: 'backward', ms: backward.median }),
  ];
}

async function* measureGpu(options: SuiteOptions, progress: Progress): AsyncGenerator<Row> {
  const { peers: folder, timeout = '240' } = options;
  const comparison = new Comparison(typeof folder === 'string' ? folder : undefined, {
    ...{ timeout: Number(timeout), device: deviceOptions(options) },
  });
  const bench = await openWebGpu(options);
  try {
    const peak = await measurePeak(bench.ctx, bench.peakWork, progress);
    yield* peak.matmuls.map(({ precision, kernel, ms, tflops }) => ({
      ...{ engine: `matmul ${peak.size}³`, pass: 'peak', 'B×H×S×D': '', dtype: precision, mask: '', ms },
      ...{ 'TFLOP/s': tflops, 'of peak': 1, '× tilewise': '', error: '', dispatches: 1, note: '' },
      ...{ timer: peak.clock, kernels: kernel, ...bench.label },
    }));
    const cases = casesOf(options, bench.kind === 'hardware' ? quickShapes.hardware : quickShapes.software);
    for (const make of cases) yield* measureCase(bench, comparison, peak, make(), progress);
    peak.destroy();
  } finally {
    comparison.end();
    await bench.close();
  }
}

async function* measureCase(
  bench: BenchGpu,
  comparison: Comparison,
  peak: Peak,
  of: AttentionCase,
  progress: Progress,
): AsyncGenerator<Row> {
  const { device, ctx } = bench;
  const label = `webgpu ${of.shape.join('x')} ${of.dtype} ${of.causal ? 'causal' : 'full'}`;
  progress(label);
  const plans = attentionPlans(ctx, of);
  const clock = gpuClock(device);
  await clock.once(plans.forward.encode, 0);
  await clock.once(plans.backward.encode, 0);
  const names = ['o', 'lse', 'dq', 'dk', 'dv'] as const;
  const [o, lse, dq, dk, dv] = await Promise.all(names.map(name => plans.read(name)));
  checkResults(of, { o, lse, dq, dk, dv });
  progress(`${label}: timing`);
  // The adapter's peak for tensors of this dtype, with any arithmetic; measured in turn with attention,
  // because clocks and load change.
  const peaks = peak.matmuls.filter(({ precision }) => of.dtype !== 'f32' || precision === 'f32');
  const best = peaks.reduce((a, b) => (b.tflops > a.tflops ? b : a));
  const passes = ['forward', 'backward'] as const;
  const encodes = [best.encode, ...passes.map(pass => plans[pass].encode)];
  const [product, ...times] = await timePasses(clock, encodes);
  await traceOnce(
    ctx,
    passes.map(pass => plans[pass].encode),
  );
  const most = peak.flops / product.median / 1e9;
  const rows = passes.map((pass, n) =>
    rowOf(of, {
      ...{ engine: 'webgpu', pass, ms: times[n].median, peak: most },
      ...{ timer: clock.kind, kernels: plans[pass].kernels, ...bench.label },
    }),
  );
  plans.destroy();
  clock.destroy();
  yield* rows;
  yield* await comparison.run(
    of,
    { o, lse },
    {
      ...{ peak: most, label: { ...bench.label } },
      progress: text => progress(`${label}: ${text}`),
    },
  );
}
