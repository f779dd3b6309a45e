import type { Engine } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';
import { attentionWeights, inductionHead, previousTokenHead } from './attention-weights.ts';
import type { ChosenEngine } from './engine-choice.ts';
import { createModel, type Model } from './model.ts';
import type { DemoOptions } from './options.ts';
import { drawHead } from './picture.ts';
import { createProgress, type ProgressOutput } from './progress.ts';
import { createBatch } from './task.ts';
import { defaultPairs, evaluate, train } from './training.ts';

/** What a run comes to: the fields of `--json`. */
export interface DemoResult {
  readonly engine: string;
  readonly adapter: string;
  readonly steps: number;
  readonly lossFirst: number;
  readonly lossLast: number;
  /** Share of right answers on fresh sequences. */
  readonly accuracy: number;
  /** Of training alone. */
  readonly seconds: number;
}

const pictureStream = 3n;
const pictureSequences = 64;
const evaluationSequences = 256;

/** Where a run writes; `colour` says whether `out` takes ANSI colours. */
export interface DemoOutputs {
  readonly out: { write(text: string): unknown };
  readonly progress: ProgressOutput;
  readonly colour: boolean;
}

/** Trains, evaluates and, unless JSON is asked for, tells about it and draws the induction head. */
export async function runDemo(
  { engine, adapter, reason }: ChosenEngine,
  { steps, seed, json }: DemoOptions,
  { out, progress: progressOutput, colour }: DemoOutputs,
): Promise<DemoResult> {
  const tell = (text: string): void => {
    if (!json) out.write(`${text}\n`);
  };
  tell(`Engine: ${engine.name} on ${adapter}, ${reason}.`);
  tell(
    `Task: ${defaultPairs} pairs of a letter and a digit, then each letter again: which digit followed it?\n`,
  );

  const model = createModel(seed);
  const losses: number[] = [];
  const progress = createProgress(progressOutput, steps);
  const start = performance.now();
  await train(engine, model, { steps, seed }, step => {
    losses.push(step.loss);
    progress.report(step);
  });
  const seconds = (performance.now() - start) / 1000;
  progress.finish();

  const accuracy = await evaluate(engine, model, { seed, sequences: evaluationSequences });
  const [lossFirst] = losses;
  const lossLast = losses[losses.length - 1];
  tell(
    `Trained ${steps} steps in ${seconds.toFixed(1)} s: loss ${lossFirst.toFixed(3)} → ${lossLast.toFixed(3)}; ` +
      `${(100 * accuracy).toFixed(1)}% of the answers on ${evaluationSequences} fresh sequences are right.\n`,
  );
  if (!json) tell(await describeHeads(engine, model, seed, colour));
  return {
    engine: engine.name,
    adapter,
    steps,
    lossFirst,
    lossLast,
    accuracy,
    seconds: Number(seconds.toFixed(3)),
  };
}

/** The picture of the head that looks most at the right keys, and what to see in it. */
async function describeHeads(engine: Engine, model: Model, seed: number, colour: boolean): Promise<string> {
  const random = new PhiloxStream(seed, { subsequence: pictureStream });
  const batch = createBatch(random, pictureSequences, defaultPairs);
  const weights = await attentionWeights(engine, model, batch);
  const induction = inductionHead(weights, batch);
  const previous = previousTokenHead(weights, batch);
  const S = batch.length;
  const picture = drawHead({
    tokens: [...batch.tokens.subarray(0, S)],
    weights: weights[induction.layer]
      .slice(0, 0, 1)
      .slice(1, induction.head, induction.head + 1)
      .toFloat32(),
    questions: [...batch.questions.subarray(0, defaultPairs)].map((row, n) => ({
      row,
      column: batch.sources[n],
    })),
    colour,
  });
  const percent = (mass: number): string => `${Math.round(100 * mass)}%`;
  return [
    `Head ${induction.head} of layer ${induction.layer} on one of them:\n`,
    `${picture}\n`,
    `In each row marked ? a letter comes again. See how the row is ${colour ? 'bright' : 'dark'} in one place: at the digit`,
    `that stood behind this letter the first time. This induction head has ${percent(induction.mass)} of its attention there (mean of`,
    `${pictureSequences} sequences). It can find the place because head ${previous.head} of layer ${previous.layer} lets each digit look at the letter`,
    `before it (${percent(previous.mass)}).`,
  ].join('\n');
}
