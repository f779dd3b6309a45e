import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Checkpoint, decodeCheckpoint } from '../checkpoint.ts';
import type { TrainConfig } from '../config.ts';
import type { Dataset } from '../data/dataset.ts';
import { recallDataset } from '../data/recall.ts';
import { textDataset, vocabularyDataset } from '../data/text.ts';
import { vocabularyOf } from '../data/vocabulary.ts';
import type { Run } from '../run.ts';
import type { ChosenEngine } from './engine-choice.ts';
import { type CommandOptions, UsageError } from './options.ts';
import { createProgress, type ProgressOutput } from './progress.ts';
import { describeHeads } from './recall-report.ts';

/** The result of a run: the fields of `--json`. The losses are null where nothing was trained. */
export interface DemoResult {
  readonly engine: string;
  readonly adapter: string;
  readonly steps: number;
  readonly lossFirst: number | null;
  readonly lossLast: number | null;
  /** Share of right predictions on sequences that were not trained on; null where there are none. */
  readonly accuracy: number | null;
  /** The seconds of training alone. */
  readonly seconds: number;
}

/** Where a run writes; `colour` says whether `out` takes ANSI colours. */
export interface DemoOutputs {
  readonly out: { write(text: string): unknown };
  readonly progress: ProgressOutput;
  readonly colour: boolean;
}

/** The configuration of each task, unless the command line says otherwise. */
const taskDefaults: Readonly<
  Record<
    Dataset['task'],
    { readonly steps: number; readonly length: number; readonly config: Partial<TrainConfig> }
  >
> = {
  recall: { steps: 400, length: 1, config: {} },
  text: { steps: 500, length: 200, config: { dim: 64, context: 64, batch: 16 } },
};

const EVALUATION_BATCHES = 8;

/** Trains or loads a model, tells how good it is and shows what it has learned. */
export async function runDemo(
  engine: ChosenEngine,
  options: CommandOptions,
  outputs: DemoOutputs,
): Promise<DemoResult> {
  const tell = (text: string): void => {
    if (!options.json) outputs.out.write(`${text}\n`);
  };
  const loaded = options.load === undefined ? null : await decodeCheckpoint(await readFile(options.load));
  const data = await chooseData(options, loaded);
  const defaults = taskDefaults[data.task];
  const steps = options.steps ?? (loaded ? 0 : defaults.steps);
  const end = Math.max((loaded?.steps ?? 0) + steps, 1);
  const run = engine.createRun({
    data,
    seed: loaded?.seed ?? options.seed ?? 0,
    config: { ...(loaded?.config ?? defaults.config), ...options.config, steps: end },
    ...(loaded && { from: loaded }),
  });
  try {
    const { layers, heads, dim, context } = run.config;
    const parameters = run.parameterCount.toLocaleString('en');
    tell(`Engine: ${engine.name} on ${engine.adapter}, ${engine.reason}.`);
    tell(`Task: ${data.description}`);
    tell(
      `Model: ${layers} layers of ${heads} heads, width ${dim}, context ${context}; ${parameters} parameters.\n`,
    );
    const { losses, seconds } = await train(run, steps, outputs.progress);
    const [lossFirst, lossLast] = [losses[0] ?? null, losses[losses.length - 1] ?? null];
    if (steps > 0)
      tell(
        `Trained ${steps} steps in ${seconds.toFixed(1)} s: loss ${lossFirst?.toFixed(3)} → ${lossLast?.toFixed(3)}.`,
      );
    const held = data.hasSequences ? await run.evaluate(EVALUATION_BATCHES) : null;
    const accuracy = held?.accuracy ?? null;
    if (held)
      tell(
        `On sequences that it was not trained on: loss ${held.loss.toFixed(3)}, ${(100 * (accuracy ?? 0)).toFixed(1)}% of what counts is right.\n`,
      );
    if (!options.json) await show(run, options, outputs);
    if (options.save !== undefined) {
      await writeFile(options.save, await run.save());
      tell(`\nSaved to ${options.save}.`);
    }
    if (options.exportTorch !== undefined) {
      await writeFolder(options.exportTorch, await run.exportTorch());
      tell(`\nExported to ${options.exportTorch}: its README says how PyTorch goes on.`);
    }
    const { name, adapter } = engine;
    return {
      engine: name,
      adapter,
      steps,
      lossFirst,
      lossLast,
      accuracy,
      seconds: Number(seconds.toFixed(3)),
    };
  } finally {
    run.release();
  }
}

async function chooseData({ text, steps }: CommandOptions, loaded: Checkpoint | null): Promise<Dataset> {
  if (loaded?.task === 'recall' && text !== undefined)
    throw new UsageError('--text is given, but the file of --load has learned associative recall');
  const vocabulary = loaded ? vocabularyOf(loaded.characters) : undefined;
  if (text !== undefined) return textDataset(await readFile(text, 'utf8'), vocabulary);
  if (loaded?.task !== 'text' || !vocabulary) return recallDataset();
  if (steps !== undefined) throw new UsageError('--steps needs --text, the file to go on with');
  return vocabularyDataset(vocabulary);
}

async function train(
  run: Run,
  steps: number,
  output: ProgressOutput,
): Promise<{ readonly losses: readonly number[]; readonly seconds: number }> {
  const progress = createProgress(output, steps);
  const losses: number[] = [];
  const start = performance.now();
  for (let step = 0; step < steps; step++) {
    const { loss, accuracy } = await run.step();
    losses.push(loss);
    progress.report({ step, loss, accuracy });
  }
  if (steps > 0) progress.finish();
  return { losses, seconds: (performance.now() - start) / 1000 };
}

/** A continued text, if one is asked for or it is texts that the model has learned; else its heads. */
async function show(
  run: Run,
  { sample, length, temperature, topK, seed }: CommandOptions,
  { out, colour }: DemoOutputs,
): Promise<void> {
  const { task, vocabulary } = run.data;
  if (sample === undefined && task === 'recall') {
    out.write(`${await describeHeads(run, colour)}\n`);
    return;
  }
  const [first] = vocabulary.characters;
  const prompt = sample ?? (vocabulary.characters.includes('\n') ? '\n' : first);
  const count = length ?? taskDefaults[task].length;
  out.write(prompt.trimStart());
  for await (const character of run.generate(prompt, { count, temperature, topK, seed }))
    out.write(character);
  out.write('\n');
}

/** Writes files into a folder, which is made. */
export async function writeFolder(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}
