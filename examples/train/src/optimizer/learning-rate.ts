import type { TrainConfig } from '../config.ts';

/** Share of the steps at whose end the learning rate falls. */
const DECAY = 0.2;

/**
 * The learning rate of step n, from 0: it rises over the first steps and, where there is an end, falls to 0
 * over the last fifth.
 */
export function learningRateAt(n: number, { learningRate, warmup, steps }: TrainConfig): number {
  const rise = warmup === 0 ? 1 : (n + 1) / warmup;
  const fall = steps === undefined ? 1 : (steps - n) / (DECAY * steps);
  return learningRate * Math.max(0, Math.min(1, rise, fall));
}
