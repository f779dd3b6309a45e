import { cost, type Engine, normalise, type Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { normalInputs, summary } from '@tilewise/device-report/measure';
import { type Suite, type SuiteOptions, UsageError, WrongResult } from '../suite/suite.ts';
import type { Row } from '../suite/table.ts';
import { perPiece, startStopwatch, type Took } from '../timing/stopwatch.ts';
import { loadOnnxRuntime, type OnnxAttention } from '../wasm/onnxruntime.ts';
import { MEASURED_MS, timeMatmul } from '../wasm/time-matmul.ts';
import { wasmMatmul } from '../wasm/wasm-matmul.ts';
import type { CaseDType } from '../workloads/attention/attention-case.ts';
import { checkResults } from '../workloads/attention/check-results.ts';
import type { SampledCall } from '../workloads/attention/exact-rows.ts';

/** The case of one row. */
interface Case {
  readonly H: number;
  readonly S: number;
  readonly D: number;
  readonly causal: boolean;
  readonly dtype: CaseDType;
}

const variants = ['wasm-relaxed-simd', 'wasm-simd', 'typescript'] as const;

/** The CPU engine beside the peak of WebAssembly and onnxruntime-web. */
export const cpu: Suite = {
  name: 'cpu',
  summary:
    'GFLOP/s of the CPU engine on one thread, next to a plain matmul of the same inner size (targets: forward 0.85, backward 0.75), ' +
    'to onnxruntime-web (target: 1.3) and to two threads (target: 1.8, where two matmuls side by side get 2); bf16 and f16 next to f32 (target: 1.15)',
  options: {
    quick: { meaning: 'only the smallest shape' },
    rounds: { value: 'N', meaning: 'measure each N times in turn and take medians; default 7' },
    variant: { value: variants.join('|'), meaning: "kernels to use instead of this host's best" },
    onnxruntime: {
      value: 'DIR',
      meaning: 'folder with onnxruntime-web; without it, the onnxruntime columns are empty',
    },
  },
  async run(options, progress) {
    const settings = await settle(options);
    const rows: Row[] = [];
    for (const given of casesOf(options.quick === true)) {
      progress(`${given.dtype} 1×${given.H}×${given.S}×${given.D} ${given.causal ? 'causal' : 'full'}`);
      const rounds = await measure(given, settings);
      rows.push(rowOf(given, rounds, settings.one.description));
    }
    return rows;
  },
};

interface Settings {
  readonly one: Engine<Tensor>;
  readonly two: Engine<Tensor>;
  readonly rounds: number;
  readonly relaxed: boolean;
  readonly onnx: OnnxAttention | null;
}

async function settle({ rounds = '7', variant, onnxruntime }: SuiteOptions): Promise<Settings> {
  const count = Number(rounds);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new UsageError(`--rounds must be a whole number of at least 1, got '${rounds}'.`);
  }
  const chosen = variants.find(name => name === variant);
  if (variant !== undefined && !chosen) {
    throw new UsageError(`--variant must be one of ${variants.join(', ')}, got '${variant}'.`);
  }
  const one = cpuEngine({ threads: 1, variant: chosen });
  return {
    one,
    two: cpuEngine({ threads: 2, variant: chosen }),
    rounds: count,
    relaxed: one.description.includes('relaxed'),
    onnx: typeof onnxruntime === 'string' ? await loadOnnxRuntime(onnxruntime) : null,
  };
}

function casesOf(quick: boolean): Case[] {
  if (quick) return [{ H: 2, S: 512, D: 64, causal: true, dtype: 'f32' }];
  const shapes = [64, 128].flatMap(D => [512, 1024, 4096].map(S => ({ H: S === 4096 ? 1 : 8, S, D })));
  const masks = [false, true];
  return [
    ...shapes.flatMap(shape => masks.map(causal => ({ ...shape, causal, dtype: 'f32' as const }))),
    ...(['f32', 'f16', 'bf16'] as const).map(dtype => ({ H: 8, S: 1024, D: 64, causal: false, dtype })),
  ];
}

/** The times measured in one round. */
interface Times {
  readonly forward: Took;
  readonly backward: Took;
  readonly forwardOnTwo: Took;
  readonly backwardOnTwo: Took;
  readonly onnx: Took | null;
  /** Forward and backward of the same numbers in f32, to compare another dtype with. */
  readonly f32: { readonly forward: Took; readonly backward: Took } | null;
  /** Per floating-point operation. */
  readonly matmul: Took;
  /** The time of two threads that multiply side by side. */
  readonly matmulOnTwo: Took;
}

/**
 * Measures everything in turn, round after round, so that the times to compare were measured under much the
 * same load.
 */
async function measure({ H, S, D, causal, dtype }: Case, settings: Settings): Promise<readonly Times[]> {
  const { one, two, rounds, relaxed, onnx } = settings;
  const exact = normalInputs(['q', 'k', 'v', 'dO'], [1, H, S, D]);
  const [q, k, v, dO] = [exact.q, exact.k, exact.v, exact.dO].map(t => t.cast(dtype));
  const options = { causal };
  const { o, lse } = await one.sdpa(q, k, v, options);
  const inputs = { q, k, v, o, lse, dO };
  const exactInputs = { ...exact, ...(await one.sdpa(exact.q, exact.k, exact.v, options)) };
  const gradients = await one.sdpaBackward(inputs, options);
  checkResults({ q, k, v, dO, causal, dtype }, { o, lse, ...gradients });
  const session = onnx && dtype === 'f32' ? await openSession(onnx, { q, k, v, causal }, o) : null;
  const product = await wasmMatmul(D, relaxed);

  const second = product.startSecondThread();
  // Not counted: this call compiles the matmul and starts the second thread.
  timeMatmul(product, second);
  const times: Times[] = [];
  for (let round = 0; round < rounds; round++) {
    times.push({
      matmul: timeMatmul(product),
      forward: await timed(() => one.sdpa(q, k, v, options)),
      backward: await timed(() => one.sdpaBackward(inputs, options)),
      matmulOnTwo: timeMatmul(product, second),
      forwardOnTwo: await timed(() => two.sdpa(q, k, v, options)),
      backwardOnTwo: await timed(() => two.sdpaBackward(inputs, options)),
      onnx: session && (await timed(() => session.run())),
      f32:
        dtype === 'f32'
          ? null
          : {
              forward: await timed(() => one.sdpa(exact.q, exact.k, exact.v, options)),
              backward: await timed(() => one.sdpaBackward(exactInputs, options)),
            },
    });
  }
  await Promise.all([session?.close(), second.end()]);
  return times;
}

/**
 * A session that gives the same o; null if onnxruntime-web cannot run the shape (it holds all scores of a
 * head, and more).
 */
async function openSession(
  onnx: OnnxAttention,
  { q, k, v, causal }: SampledCall,
  o: Tensor,
): Promise<Awaited<ReturnType<OnnxAttention['open']>> | null> {
  const session = await onnx.open(q, k, v, causal);
  const got = await session.run().catch(() => null);
  if (got === null) await session.close();
  else checkSame(got, o);
  return got && session;
}

/**
 * The time of one call, averaged over as many calls as take as long as the matmul. One call before the
 * measurement fills caches and wakes threads, because the second thread of the two matmuls is awake, too.
 */
async function timed(work: () => Promise<unknown>): Promise<Took> {
  await work();
  const passed = startStopwatch();
  let calls = 0;
  let took: Took;
  do {
    await work();
    calls += 1;
    took = passed();
  } while (took.wall < MEASURED_MS);
  return perPiece(took, calls);
}

function checkSame(got: Tensor, want: Tensor): void {
  const expected = want.toFloat32();
  const wrong = got.toFloat32().findIndex((x, n) => !(Math.abs(x - expected[n]) < 1e-4));
  if (wrong >= 0) throw new WrongResult(`onnxruntime-web disagrees at element ${wrong} of o`);
}

/**
 * Each number is the median of the rounds, and each ratio is of two times in one round, because the machine's
 * other load changes more from round to round than within one. One thread is measured by processor time; two
 * threads, compared with one, by the wall clock.
 */
function rowOf({ H, S, D, causal, dtype }: Case, rounds: readonly Times[], on: string): Row {
  const shape: [number, number, number, number] = [1, H, S, D];
  const { q } = normalInputs(['q'], shape);
  const { forward, backward } = cost(normalise({ q, k: q, v: q }, { causal }).problem);
  const medianOf = (value: (times: Times) => number): number => summary(rounds.map(value)).median;
  /** Empty if there is nothing to measure. */
  const medianIfAny = (value: (times: Times) => number | null): number | '' => {
    const values = rounds.map(value).filter(x => x !== null);
    return values.length > 0 ? summary(values).median : '';
  };
  const both = (times: Pick<Times, 'forward' | 'backward'>): number => times.forward.cpu + times.backward.cpu;
  return {
    ...{ 'B×H×S×D': shape.join('×'), mask: causal ? 'causal' : 'full', dtype, ms: medianOf(both) },
    'fwd GFLOP/s': medianOf(times => forward.flops / times.forward.cpu / 1e6),
    'bwd GFLOP/s': medianOf(times => backward.flops / times.backward.cpu / 1e6),
    matmul: medianOf(times => 1 / times.matmul.cpu / 1e6),
    'fwd/matmul': medianOf(times => (forward.flops * times.matmul.cpu) / times.forward.cpu),
    'bwd/matmul': medianOf(times => (backward.flops * times.matmul.cpu) / times.backward.cpu),
    onnxruntime: medianIfAny(({ onnx }) => onnx && forward.flops / onnx.cpu / 1e6),
    'fwd/onnx': medianIfAny(times => times.onnx && times.onnx.cpu / times.forward.cpu),
    'fwd ×2 threads': medianOf(times => times.forward.wall / times.forwardOnTwo.wall),
    'bwd ×2 threads': medianOf(times => times.backward.wall / times.backwardOnTwo.wall),
    'matmul ×2 threads': medianOf(times => times.matmul.wall / times.matmulOnTwo.wall),
    'time/f32': medianIfAny(times => times.f32 && both(times) / both(times.f32)),
    on,
  };
}
