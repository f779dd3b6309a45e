import type { Engine, TensorDesc } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';
import { type AttentionDropout, passIncrement } from './attention-options.ts';
import { backward, forward, type Model, parametersOf, passShape, releasePass } from './model.ts';
import { createAdamW } from './optimizer.ts';
import { createBatch } from './task.ts';

export interface TrainingOptions {
  readonly steps: number;
  readonly seed: number;
  /** Sequences per step. */
  readonly batch?: number;
  /** Key-value pairs per sequence. */
  readonly pairs?: number;
  readonly learningRate?: number;
  /** Share of the attention probabilities that is dropped. */
  readonly dropout?: number;
}

/** What is reported after each step. */
export interface StepReport {
  readonly step: number;
  /** Of the batch of this step, before the update. */
  readonly loss: number;
  readonly accuracy: number;
}

export const defaultPairs = 6;

/** Random streams of one seed; that of the parameters is chosen by their names. */
const trainingStream = 1n;
const evaluationStream = 2n;

/** Trains a model in place. The losses depend on the options and the engine alone. */
export async function train<T extends TensorDesc>(
  engine: Engine<T>,
  model: Model,
  {
    steps,
    seed,
    batch: count = 16,
    pairs = defaultPairs,
    learningRate = 5e-3,
    dropout: p = 0.1,
  }: TrainingOptions,
  report: (step: StepReport) => void,
): Promise<void> {
  const random = new PhiloxStream(seed, { subsequence: trainingStream });
  const optimizer = createAdamW(parametersOf(model), { learningRate });
  let offset = 0n;
  for (let step = 0; step < steps; step++) {
    const batch = createBatch(random, count, pairs);
    const dropout: AttentionDropout | undefined = p > 0 ? { p, seed, offset } : undefined;
    const pass = await forward(engine, model, batch, dropout);
    await backward(engine, model, batch, pass, dropout);
    optimizer.step(rateFactor(step, steps));
    offset += passIncrement(passShape(model, batch));
    report({ step, loss: pass.score.loss, accuracy: pass.score.accuracy });
  }
}

/** The learning rate rises over the first steps and falls to 0 over the last fifth. */
function rateFactor(step: number, steps: number): number {
  return Math.min(1, (step + 1) / 50, (steps - step) / (0.2 * steps));
}

/** Share of right answers on fresh sequences, without dropout. */
export async function evaluate<T extends TensorDesc>(
  engine: Engine<T>,
  model: Model,
  { seed, pairs = defaultPairs, sequences = 256 }: { seed: number; pairs?: number; sequences?: number },
): Promise<number> {
  const random = new PhiloxStream(seed, { subsequence: evaluationStream });
  const pass = await forward(engine, model, createBatch(random, sequences, pairs));
  releasePass(engine, pass);
  return pass.score.accuracy;
}
