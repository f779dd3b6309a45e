import { readFile, writeFile } from 'node:fs/promises';
import type { HostEngine } from '@tilewise/host-engine';
import { characterTokenizer } from '@tilewise/nn';
import { writeFolder } from '@tilewise/nn/checkpoint';
import { type Checkpoint, decodeCheckpoint } from '../checkpoint.ts';
import type { Dataset } from '../data/dataset.ts';
import { recallDataset } from '../data/recall.ts';
import { textDataset } from '../data/text.ts';
import { createRun, type Run } from '../run.ts';
import { type CommandOptions, UsageError } from './options.ts';
import { createProgress, type ProgressOutput } from './progress.ts';
import { describeHeads } from './recall-report.ts';
import { taskDefaults } from './task-defaults.ts';

/**
 * The result of a run: the fields of `--json`. The seconds are those of training alone. The losses are null
 * if nothing was trained; the accuracy is measured on sequences that were not trained on, and null if there
 * are none.
 */
export interface DemoResult
  extends Readonly<Record<'engine' | 'adapter', string>>,
    Readonly<Record<'steps' | 'seconds', number>>,
    Readonly<Record<'lossFirst' | 'lossLast' | 'accuracy', number | null>> {}

/** Standard output and standard error, or replacements for them. */
export interface Streams {
  readonly out: ProgressOutput;
  readonly error: ProgressOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Trains or loads a model, reports how good it is, and shows what it has learned. */
export async function runDemo(
  { name, adapter, reason, run: onEngine }: HostEngine,
  options: CommandOptions,
  streams: Streams,
): Promise<DemoResult> {
  const tell = (text: string): void => {
    if (!options.json) streams.out.write(`${text}\n`);
  };
  const loaded =
    options.load === undefined ? null : await decodeCheckpoint(await readFile(options.load), options.load);
  const data = await chooseData(options, loaded);
  const defaults = taskDefaults[data.task];
  const steps = options.steps ?? (loaded ? 0 : defaults.steps);
  const end = Math.max((loaded?.steps ?? 0) + steps, 1);
  const config = { ...(loaded?.config ?? defaults.config), ...options.config, steps: end };
  const seed = loaded?.seed ?? options.seed ?? 0;
  const run = onEngine(engine => createRun({ engine, data, seed, config, ...(loaded && { from: loaded }) }));
  try {
    const { layers, heads, dim, context } = run.config;
    const sizes = `${layers} layers of ${heads} heads, width ${dim}, context ${context}`;
    tell(`Engine: ${name} on ${adapter}, ${reason}.\nTask: ${data.description}`);
    tell(`Model: ${sizes}; ${run.model.parameterCount.toLocaleString('en')} parameters.\n`);
    const progress = createProgress(streams.error, steps);
    const losses: number[] = [];
    const start = performance.now();
    for (let n = 0; n < steps; n++) {
      const report = await run.step();
      losses.push(report.loss);
      progress(report);
    }
    const seconds = Number(((performance.now() - start) / 1000).toFixed(3));
    const [lossFirst, lossLast] = [losses[0] ?? null, losses.at(-1) ?? null];
    const course = `loss ${lossFirst?.toFixed(3)} → ${lossLast?.toFixed(3)}`;
    if (steps > 0) tell(`Trained ${steps} steps in ${seconds.toFixed(1)} s: ${course}.`);
    const held = data.hasSequences ? await run.evaluate(8) : null;
    const accuracy = held?.accuracy ?? null;
    const right = `${(100 * (accuracy ?? 0)).toFixed(1)}% of the predictions that count are right`;
    if (held) tell(`On sequences that it was not trained on: loss ${held.loss.toFixed(3)}, ${right}.\n`);
    if (!options.json) await show(run, options, streams);
    if (options.save !== undefined) {
      await writeFile(options.save, await run.save());
      tell(`\nSaved to ${options.save}.`);
    }
    if (options.exportTorch !== undefined) {
      await writeFolder(options.exportTorch, await run.exportTorch());
      tell(`\nExported to ${options.exportTorch}: its README says how to continue in PyTorch.`);
    }
    return { engine: name, adapter, steps, lossFirst, lossLast, accuracy, seconds };
  } finally {
    run.release();
  }
}

async function chooseData({ text, steps }: CommandOptions, loaded: Checkpoint | null): Promise<Dataset> {
  if (loaded?.task === 'recall' && text !== undefined)
    throw new UsageError('--text cannot be used: the file of --load has learned associative recall');
  const vocabulary = loaded ? characterTokenizer(loaded.characters) : undefined;
  if (text !== undefined) return textDataset(await readFile(text, 'utf8'), vocabulary);
  if (loaded?.task !== 'text') return recallDataset();
  if (steps !== undefined) throw new UsageError('--steps needs --text, the file to continue training on');
  return textDataset('', vocabulary);
}

/** A continued text, if a prompt is given or the model has learned texts; otherwise a picture of a head. */
async function show(run: Run, options: CommandOptions, { out, env }: Streams): Promise<void> {
  const { task, vocabulary } = run.data;
  const { sample, length, temperature, topK, seed } = options;
  if (sample === undefined && task === 'recall') {
    out.write(`${await describeHeads(run, out.isTTY === true && !env.NO_COLOR)}\n`);
    return;
  }
  const [first] = vocabulary.characters;
  const prompt = sample ?? (vocabulary.characters.includes('\n') ? '\n' : first);
  const count = length ?? taskDefaults[task].length;
  out.write(prompt.trimStart());
  for await (const part of run.generate(prompt, { count, temperature, topK, seed })) out.write(part);
  out.write('\n');
}
