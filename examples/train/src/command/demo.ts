import { readFile, writeFile } from 'node:fs/promises';
import { decodeCheckpoint, encodeCheckpoint } from '../checkpoint/checkpoint.ts';
import type { TrainConfig } from '../config.ts';
import type { Dataset, Task } from '../data/dataset.ts';
import { recallDataset } from '../data/recall.ts';
import { textDataset, vocabularyDataset } from '../data/text.ts';
import { vocabularyOf } from '../data/vocabulary.ts';
import type { Snapshot, Trainer } from '../training/trainer.ts';
import type { ChosenEngine } from './engine-choice.ts';
import { exportRun, writeFolder } from './export-torch.ts';
import { type CommandOptions, UsageError } from './options.ts';
import { createProgress, type ProgressOutput } from './progress.ts';
import { describeHeads } from './recall-report.ts';

/** What a run comes to: the fields of `--json`. The losses are null where nothing was trained. */
export interface DemoResult {
  readonly engine: string;
  readonly adapter: string;
  readonly steps: number;
  readonly lossFirst: number | null;
  readonly lossLast: number | null;
  /** Share of right predictions on sequences that were not trained on; null where there are none. */
  readonly accuracy: number | null;
  /** Of training alone. */
  readonly seconds: number;
}

/** Where a run writes; `colour` says whether `out` takes ANSI colours. */
export interface DemoOutputs {
  readonly out: { write(text: string): unknown };
  readonly progress: ProgressOutput;
  readonly colour: boolean;
}

/** What each task is trained with, unless something else is asked for. */
const taskDefaults: Readonly<
  Record<Task, { readonly steps: number; readonly length: number; readonly config: Partial<TrainConfig> }>
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
  const loaded = options.load === undefined ? null : decodeCheckpoint(await readFile(options.load));
  const data = await chooseData(options, loaded);
  const defaults = taskDefaults[data.task];
  const steps = options.steps ?? (loaded ? 0 : defaults.steps);
  const begin = loaded?.step ?? 0;
  const trainer = engine.createTrainer({
    data,
    seed: loaded?.seed ?? options.seed ?? 0,
    config: { ...(loaded?.config ?? defaults.config), ...options.config, steps: Math.max(begin + steps, 1) },
    ...(loaded && { from: loaded }),
  });
  try {
    const { layers, heads, dim, context } = trainer.config;
    tell(`Engine: ${engine.name} on ${engine.adapter}, ${engine.reason}.`);
    tell(`Task: ${data.description}`);
    tell(
      `Model: ${layers} layers of ${heads} heads, width ${dim}, context ${context}; ${trainer.parameterCount.toLocaleString('en')} parameters.\n`,
    );
    const trained = await train(trainer, steps, outputs.progress);
    if (steps > 0) {
      tell(
        `Trained ${steps} steps in ${trained.seconds.toFixed(1)} s: loss ${trained.lossFirst?.toFixed(3)} → ${trained.lossLast?.toFixed(3)}.`,
      );
    }
    const accuracy = await tellAccuracy(trainer, tell);
    if (!options.json) await show(trainer, options, outputs);
    if (options.save !== undefined) {
      await writeFile(options.save, encodeCheckpoint(await trainer.snapshot()));
      tell(`\nSaved to ${options.save}.`);
    }
    if (options.exportTorch !== undefined) {
      await writeFolder(options.exportTorch, exportRun(await trainer.snapshot(), data));
      tell(`\nExported to ${options.exportTorch}: its README says how PyTorch goes on.`);
    }
    const { name, adapter } = engine;
    return {
      engine: name,
      adapter,
      steps,
      ...trained,
      accuracy,
      seconds: Number(trained.seconds.toFixed(3)),
    };
  } finally {
    trainer.release();
  }
}

async function chooseData({ text, steps }: CommandOptions, loaded: Snapshot | null): Promise<Dataset> {
  if (loaded?.task === 'recall' && text !== undefined) {
    throw new UsageError('--text is given, but the file of --load has learned associative recall');
  }
  const vocabulary = loaded ? vocabularyOf(loaded.characters) : undefined;
  if (text !== undefined) return textDataset(await readFile(text, 'utf8'), vocabulary);
  if (loaded?.task !== 'text' || !vocabulary) return recallDataset();
  if (steps !== undefined) throw new UsageError('--steps needs --text, the file to go on with');
  return vocabularyDataset(vocabulary);
}

async function train(
  trainer: Trainer,
  steps: number,
  output: ProgressOutput,
): Promise<Pick<DemoResult, 'lossFirst' | 'lossLast' | 'seconds'>> {
  const progress = createProgress(output, steps);
  const losses: number[] = [];
  const start = performance.now();
  for (let n = 0; n < steps; n++) {
    const { loss, accuracy } = await trainer.step();
    losses.push(loss);
    progress.report({ step: n, loss, accuracy });
  }
  if (steps > 0) progress.finish();
  const seconds = (performance.now() - start) / 1000;
  return { lossFirst: losses[0] ?? null, lossLast: losses[losses.length - 1] ?? null, seconds };
}

async function tellAccuracy(trainer: Trainer, tell: (text: string) => void): Promise<number | null> {
  if (!trainer.data.hasSequences) return null;
  const { loss, accuracy } = await trainer.evaluate(EVALUATION_BATCHES);
  tell(
    `On sequences that it was not trained on: loss ${loss.toFixed(3)}, ${(100 * accuracy).toFixed(1)}% of what counts is right.\n`,
  );
  return accuracy;
}

/** A continued text, if one is asked for or it is texts that the model has learned; else its heads. */
async function show(
  trainer: Trainer,
  { sample, length, temperature, topK, seed }: CommandOptions,
  { out, colour }: DemoOutputs,
): Promise<void> {
  const { task, vocabulary } = trainer.data;
  if (sample === undefined && task === 'recall') {
    out.write(`${await describeHeads(trainer, colour)}\n`);
    return;
  }
  const [first] = vocabulary.characters;
  const prompt = sample ?? (vocabulary.characters.includes('\n') ? '\n' : first);
  const count = length ?? taskDefaults[task].length;
  out.write(prompt.trimStart());
  for await (const character of trainer.generate(prompt, { count, temperature, topK, seed })) {
    out.write(character);
  }
  out.write('\n');
}
