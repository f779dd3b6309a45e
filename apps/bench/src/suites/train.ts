import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuEngine } from '@tilewise/core/cpu';
import { summary } from '@tilewise/device-report/measure';
import type { AutocastDType } from '@tilewise/nn';
import { webgpuEngine } from '@tilewise/webgpu';
import { countWork, type Work } from '@tilewise/webgpu-host';
import type { Row } from '../command/table.ts';
import { deviceOptions, openWebGpu, toggleOption } from '../gpu/open-webgpu.ts';
import { relaxedEngine } from '../wasm/relaxed-engine.ts';
import { timeMatmul } from '../wasm/time-matmul.ts';
import { wasmMatmul } from '../wasm/wasm-matmul.ts';
import { parseChoices } from '../workloads/attention/attention-case.ts';
import { peerRun } from '../workloads/training/peer-run.ts';
import { jaxJsRun } from '../workloads/training/peers/jax-js-run.ts';
import { tfjsRun } from '../workloads/training/peers/tfjs-run.ts';
import { openWebgpuPeers } from '../workloads/training/peers/webgpu-peers.ts';
import {
  encodeCase,
  type TrainingCase,
  trainingCases,
  weightsOfCase,
} from '../workloads/training/training-case.ts';
import { ownRun, type Steps, type TrainingRun } from '../workloads/training/training-run.ts';
import { type Suite, type SuiteOptions, UsageError, WrongResult } from './suite.ts';

const engines = ['cpu', 'webgpu'] as const;
const autocastDTypes = ['f16', 'bf16'] as const satisfies readonly AutocastDType[];
const caseNames = trainingCases.map(({ name }) => name);

/** The number of untimed steps whose losses are compared. */
const CHECKED_STEPS = 3;
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
        'also the cpu engine on two threads, by the clock, next to what two matmuls side by side gain (target: 0.85 of their gain)',
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
    const autocast =
      options.autocast === undefined
        ? []
        : parseChoices('autocast', String(options.autocast), autocastDTypes);
    const hasAll = options.engine !== undefined;
    for (const of of trainingCases.filter(({ name }) => chosen.includes(name)))
      yield* measure(of, { on, hasAll, rounds, autocast, options, progress });
  },
};

/** A run, and the work that its device has been given so far; no work if there is no GPU. */
interface Entry {
  readonly run: TrainingRun;
  /** The dtype of weights and operands, if it is not f32. */
  readonly dtype?: AutocastDType | undefined;
  readonly work: Readonly<Work>;
  readonly label: Row;
}

/** The settings of the measurements. */
interface Settings {
  readonly on: readonly (typeof engines)[number][];
  /** Whether a software adapter runs the large case, which takes a minute per step. */
  readonly hasAll: boolean;
  readonly rounds: number;
  readonly autocast: readonly (typeof autocastDTypes)[number][];
  readonly options: SuiteOptions;
  readonly progress: (text: string) => void;
}

async function* measure(
  of: TrainingCase,
  { on, hasAll, rounds, autocast, options, progress }: Settings,
): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-bench-'));
  const entries: Entry[] = [];
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
  const none = { work: { dispatches: 0, bytes: 0 }, label: {} };
  try {
    if (on.includes('cpu')) entries.push({ run: ownRun(cpuEngine({ threads: 1 }), of), ...none });
    const isShared = on.includes('cpu') && options.threads === true;
    if (isShared)
      entries.push({ run: { ...ownRun(cpuEngine({ threads: 2 }), of), name: 'cpu, 2 threads' }, ...none });
    const relaxed = on.includes('cpu') ? relaxedEngine() : null;
    if (relaxed) entries.push({ run: { ...ownRun(relaxed, of), name: 'cpu, relaxed SIMD' }, ...none });
    if (on.includes('cpu'))
      for (const dtype of autocast)
        entries.push({ run: ownRun(cpuEngine({ threads: 1 }), of, dtype), dtype, ...none });
    const product = isShared ? await wasmMatmul(64, false) : null;
    const second = product?.startSecondThread();
    closing.push(() => second?.end());
    const gains: number[] = [];
    if (on.includes('webgpu')) {
      const bench = await openWebGpu(options);
      closing.push(() => bench.close());
      const { label, kind } = bench;
      if (hasAll || kind === 'hardware' || of === trainingCases[0]) {
        const work = countWork(bench.device);
        for (const dtype of [undefined, ...autocast])
          entries.push({ run: ownRun(webgpuEngine(bench.ctx), of, dtype), dtype, work, label });
        const peers =
          typeof options.peers === 'string'
            ? await openWebgpuPeers(options.peers, of, deviceOptions(options))
            : [];
        entries.push(...peers.map(run => ({ run, ...none, label })));
      }
    }
    if (typeof options.peers === 'string' && on.includes('cpu')) {
      const weights = weightsOfCase(of);
      for (const open of [tfjsRun, jaxJsRun]) {
        const run = await open(options.peers, of, weights);
        if (run) entries.push({ run, ...none });
      }
    }
    const file = join(folder, 'case.safetensors');
    writeFileSync(file, encodeCase(of));
    const python = findPython(options.python);
    if (python) {
      const program = fileURLToPath(new URL('../../training/pytorch.py', import.meta.url));
      entries.push({ run: await peerRun(python, [program, file]), ...none });
    }
    closing.push(
      ...entries.map(
        ({ run }) =>
          () =>
            run.close(),
      ),
    );

    progress(`${of.name}: the first steps`);
    const losses: number[] = [];
    for (const { run } of entries) losses.push((await run.steps(CHECKED_STEPS)).loss);
    const expected = losses[entries.findLastIndex(({ dtype }) => dtype === undefined)];
    for (const [n, { run, dtype }] of entries.entries()) {
      const error = Math.abs(losses[n] - expected) / expected;
      if (!(error <= (dtype ? AUTOCAST_TOLERANCE[dtype] : LOSS_TOLERANCE)))
        throw new WrongResult(`${of.name} on ${run.name}: the loss is ${losses[n]}, not ${expected}`);
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
        '× the last': medianOf(n, ({ cpu }, round) => cpu / all[entries.length - 1][round].cpu),
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

/** A Python that has PyTorch; null if there is none. */
function findPython(given: SuiteOptions[string]): string | null {
  const python =
    typeof given === 'string' ? given : join(homedir(), '.cache', 'tilewise-venv', 'bin', 'python');
  const has = existsSync(python) && spawnSync(python, ['-c', 'import torch']).status === 0;
  if (has) return python;
  if (typeof given === 'string') throw new UsageError(`--python: ${python} has no PyTorch.`);
  return null;
}
