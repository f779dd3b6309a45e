import { fileURLToPath } from 'node:url';
import { cpuEngine } from '@tilewise/core/cpu';
import { summary } from '@tilewise/device-report/measure';
import { webgpuEngine } from '@tilewise/webgpu';
import { openWebGpu } from '../../gpu/open-webgpu.ts';
import { findPeer } from '../../peers/peer-module.ts';
import { parseChoice } from '../../suite/parse-choices.ts';
import { type SuiteOptions, UsageError, WrongResult } from '../../suite/suite.ts';
import type { Row } from '../../suite/table.ts';
import type { Took } from '../../timing/stopwatch.ts';
import { notInstalled } from '../../wasm/onnxruntime.ts';
import { architectures, configOf, decoderSizes, promptOf } from './decoder-case.ts';
import { type DecodingRun, onnxDecoding, ownDecoding, weightsOf } from './decoding-run.ts';

const dtypes = ['f32', 'f16', 'bf16'] as const;
/** The folder in which a clone has onnxruntime-web, for tests. */
const installed = fileURLToPath(new URL('../../../../../packages/graph', import.meta.url));
const TOKENS = 8;

/** The options of the rows about continuing a text. */
export const generationOptions = {
  engine: {
    value: 'cpu|webgpu',
    meaning: 'generate text on this engine only; default: text on the CPU engine, attention on WebGPU',
  },
  model: {
    value: 'llama|gpt2',
    meaning: 'the model; default llama. onnxruntime-web runs only llama',
  },
  threads: { meaning: 'also the CPU engine on two threads, by the clock' },
  context: { value: 'N', meaning: 'tokens of the text; default 1000' },
  rounds: { value: 'N', meaning: 'measure N times in turn and take medians; default 5' },
  onnxruntime: { value: 'DIR', meaning: 'folder with onnxruntime-web; default: this clone' },
} as const;

/**
 * Tokens per second of a decoder with about 30 million random weights that continues a text, beside
 * onnxruntime-web on one thread.
 */
export async function* continueTexts(
  options: SuiteOptions,
  progress: (text: string) => void,
): AsyncGenerator<Row> {
  const { context = '1000', rounds = '5', engine = 'cpu', onnxruntime } = options;
  const [length, times] = [Number(context), Number(rounds)];
  for (const [name, text] of Object.entries({ context, rounds }))
    if (!Number.isSafeInteger(Number(text)) || Number(text) < 2)
      throw new UsageError(`--${name} must be a whole number of at least 2, got '${text}'.`);
  const on = parseChoice('engine', String(engine), ['cpu', 'webgpu'] as const);
  const architecture = parseChoice('model', String(options.model ?? architectures[0]), architectures);
  if (options.threads === true && on !== 'cpu') throw new UsageError('--threads needs the cpu engine.');
  const config = configOf(decoderSizes, architecture);
  const folder = typeof onnxruntime === 'string' ? onnxruntime : installed;
  const isInstalled = findPeer(folder, 'onnxruntime-web') !== null;
  if (typeof onnxruntime === 'string' && !isInstalled) throw notInstalled(folder);
  const hasOnnx = isInstalled && architecture === 'llama';
  const prompt = promptOf(decoderSizes, length + 1);
  const runs: DecodingRun[] = [];
  const closing: (() => Promise<void>)[] = [];
  try {
    progress('reading the text');
    if (on === 'webgpu') {
      const bench = await openWebGpu(options);
      closing.push(() => bench.close());
      for (const dtype of dtypes)
        runs.push(await ownDecoding(webgpuEngine(bench.ctx), config, prompt, dtype));
    } else {
      for (const dtype of dtypes)
        runs.push(await ownDecoding(cpuEngine({ threads: 1 }), config, prompt, dtype));
      if (options.threads === true) {
        for (const dtype of dtypes) {
          const run = await ownDecoding(cpuEngine({ threads: 2 }), config, prompt, dtype);
          runs.push({ ...run, name: `${run.name}, 2 threads` });
        }
      }
    }
    if (hasOnnx) {
      progress('reading the text in onnxruntime-web');
      const weights = await weightsOf(cpuEngine({ threads: 1 }), decoderSizes);
      runs.push(await onnxDecoding(folder, decoderSizes, weights, prompt));
      if (runs[0].first !== runs[runs.length - 1].first)
        throw new WrongResult(
          `the next token is ${runs[0].first}, but onnxruntime-web's is ${runs.at(-1)?.first}`,
        );
    }
    const all = runs.map(() => [] as Took[]);
    for (let round = 0; round < times; round++) {
      progress(`round ${round + 1} of ${times}`);
      for (const [n, run] of runs.entries()) all[n].push(await run.tokens(TOKENS));
    }
    const last = all[all.length - 1];
    for (const [n, { name }] of runs.entries()) {
      const median = (of: (took: Took, round: number) => number): number => summary(all[n].map(of)).median;
      yield {
        ...{ model: architecture, context: length, engine: name },
        'tokens/s': median(({ wall }) => (1000 * TOKENS) / wall),
        'ms (cpu)': median(({ cpu }) => cpu / TOKENS),
        'speed/onnx': hasOnnx ? median(({ cpu }, round) => last[round].cpu / cpu) : '',
      };
    }
  } finally {
    for (const run of runs) await run.close();
    for (const close of closing) await close();
  }
}
