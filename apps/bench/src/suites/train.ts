import { summary } from '@tilewise/device-report/measure';
import type { AutocastDType } from '@tilewise/nn';
import { toggleOption } from '../gpu/open-webgpu.ts';
import { findPeer } from '../peers/peer-module.ts';
import { parseChoices } from '../suite/parse-choices.ts';
import { type Suite, UsageError, WrongResult } from '../suite/suite.ts';
import type { Row } from '../suite/table.ts';
import { timeMatmul } from '../wasm/time-matmul.ts';
import { wasmMatmul } from '../wasm/wasm-matmul.ts';
import { CHECKED_STEPS, type TrainingCase, trainingCases } from '../workloads/training/training-case.ts';
import { type EntrySettings, openEntries } from '../workloads/training/training-entries.ts';
import type { Steps } from '../workloads/training/training-run.ts';

const engines = ['cpu', 'webgpu'] as const;
const autocastDTypes = ['f16', 'bf16'] as const satisfies readonly AutocastDType[];
const caseNames = trainingCases.map(({ name }) => name);

/** The milliseconds that the steps of a round take, unless one step takes longer. */
const ROUND_MS = 500;
/**
 * The most warm-up steps, during which the JavaScript engine compiles hot functions. A step that takes a
 * whole round has no warm-up.
 */
const WARM_UP_STEPS = 100;
/** The tolerance for sums of f32 products in a different order, after two steps of AdamW. */
const LOSS_TOLERANCE = 1e-3;
/**
 * The relative tolerance for products of 16-bit operands: one rounding of an operand. A loss is the mean over
 * hundreds of tokens, whose roundings largely cancel.
 */
const AUTOCAST_TOLERANCE = { f16: 2 ** -11, bf16: 2 ** -8 };

/** Steps of training: forward, backward, clipping and AdamW. */
export const train: Suite = {
  name: 'train',
  summary:
    'milliseconds of a training step of a GPT-2 of 4 layers of width 256 on 1,024 tokens, and of the demo (2 layers of width 32, 768 tokens), ' +
    'next to PyTorch on one thread (target: 2 times its processor time at most), and to TensorFlow.js and jax-js (targets: ahead on WebAssembly, three times as fast on WebGPU)',
  options: {
    engine: {
      value: engines.join('|'),
      meaning:
        'only this engine, instead of both; a software adapter runs the large case only if it is named here',
    },
    cases: { value: caseNames.join(','), meaning: 'only these cases' },
    autocast: {
      value: autocastDTypes.join('|'),
      meaning: 'also each engine with weights and the operands of products and attention in this dtype',
    },
    rounds: { value: 'N', meaning: 'measure each N times in turn and take medians; default 5' },
    threads: {
      meaning:
        'also the CPU engine on two threads, by the clock, next to what two matmuls side by side gain (target: 0.85 of their gain)',
    },
    peers: {
      value: 'DIR',
      meaning:
        'a folder with @tensorflow/tfjs and its packages @tensorflow/tfjs-backend-wasm and -webgpu, or @jax-js/jax, or both libraries; ' +
        'they run where the engines beside them do',
    },
    python: {
      value: 'FILE',
      meaning: "a Python with PyTorch; default .ci/release's; without PyTorch, there is no row for it",
    },
    ...toggleOption,
  },
  async *run(options, progress) {
    const { cases = caseNames.join(','), engine = engines.join(',') } = options;
    const rounds = Number(options.rounds ?? 5);
    if (!Number.isSafeInteger(rounds) || rounds < 1)
      throw new UsageError(`--rounds must be a whole number of at least 1, got '${options.rounds}'.`);
    const chosen = parseChoices('cases', String(cases), caseNames);
    const on = parseChoices('engine', String(engine), engines);
    if (options.threads === true && !on.includes('cpu'))
      throw new UsageError('--threads needs the cpu engine.');
    const autocast =
      options.autocast === undefined
        ? []
        : parseChoices('autocast', String(options.autocast), autocastDTypes);
    const { peers } = options;
    if (typeof peers === 'string' && !['@jax-js/jax', '@tensorflow/tfjs'].some(name => findPeer(peers, name)))
      throw new UsageError(`--peers: no peer is installed in ${peers}`);
    const hasAll = options.engine !== undefined;
    for (const of of trainingCases.filter(({ name }) => chosen.includes(name)))
      yield* measure(of, { on, hasAll, rounds, autocast, options, progress });
  },
};

/** The settings of the measurements. */
interface Settings extends EntrySettings {
  readonly rounds: number;
  readonly progress: (text: string) => void;
}

async function* measure(of: TrainingCase, { rounds, progress, ...settings }: Settings): AsyncGenerator<Row> {
  const closing: (() => unknown)[] = [];
  try {
    const entries = await openEntries(of, settings, closing);
    const isShared = settings.options.threads === true;
    const product = isShared ? await wasmMatmul(64, false) : null;
    const second = product?.startSecondThread();
    closing.push(() => second?.end());
    const gains: number[] = [];

    progress(`${of.name}: the first steps`);
    const losses: number[] = [];
    for (const { run, dtype } of entries) {
      const { loss } = await run.steps(CHECKED_STEPS);
      const error = Math.abs(loss - of.loss) / of.loss;
      if (!(error <= (dtype ? AUTOCAST_TOLERANCE[dtype] : LOSS_TOLERANCE)))
        throw new WrongResult(`${of.name} on ${run.name}: the loss is ${loss}, not ${of.loss}`);
      losses.push(loss);
    }
    const counts: number[] = [];
    for (const { run } of entries) {
      const count = Math.max(1, Math.ceil(ROUND_MS / (await run.steps(1)).wall));
      if (count > 1) await run.steps(Math.min(10 * count, WARM_UP_STEPS));
      counts.push(count);
    }
    const all = entries.map(() => [] as Steps[]);
    const worked = entries.map(() => ({ dispatches: 0, bytes: 0 }));
    if (product) timeMatmul(product, second);
    for (let round = 0; round < rounds; round++) {
      progress(`${of.name}: round ${round + 1} of ${rounds}`);
      for (const [n, { run, work }] of entries.entries()) {
        const steps = counts[n];
        const before = { ...work };
        const took = await run.steps(steps);
        all[n].push({ ...took, wall: took.wall / steps, cpu: took.cpu / steps });
        worked[n] = {
          dispatches: (work.dispatches - before.dispatches) / steps,
          bytes: (work.bytes - before.bytes) / steps,
        };
      }
      if (product) gains.push(timeMatmul(product).wall / timeMatmul(product, second).wall);
    }
    const torch = entries.findIndex(({ isPyTorch }) => isPyTorch);
    const medianOf = (n: number, of: (took: Steps, round: number) => number): number =>
      summary(all[n].map(of)).median;
    for (const [n, { run, label }] of entries.entries()) {
      const wall = medianOf(n, ({ wall: each }) => each);
      yield {
        ...{
          case: of.name,
          engine: run.name,
          'ms (cpu)': medianOf(n, ({ cpu }) => cpu),
          'ms (wall)': wall,
        },
        'tokens/s': (1000 * of.batch * of.sequence) / wall,
        'time/PyTorch': torch < 0 ? '' : medianOf(n, ({ cpu }, round) => cpu / all[torch][round].cpu),
        ...(product && {
          gain: n === 1 ? medianOf(0, ({ wall: one }, round) => one / all[1][round].wall) : '',
          'matmuls gain': n === 1 ? summary(gains).median : '',
        }),
        MiB: run.bytes ? run.bytes() / 2 ** 20 : '',
        ...{ dispatches: worked[n].dispatches || '', 'MB bound': worked[n].bytes / 1e6 || '' },
        ...{ loss: losses[n], ...label },
      };
    }
  } finally {
    for (const close of closing.reverse()) await close();
  }
}
