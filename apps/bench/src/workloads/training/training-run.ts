import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { type AutocastDType, createModel, createTrainer, readModel } from '@tilewise/nn';
import { startStopwatch, type Took } from '../../timing/stopwatch.ts';
import { LEARNING_RATE, type TrainingCase, tokensOf } from './training-case.ts';

/** The result of some steps: the loss of the last one, and the time of all of them. */
export interface Steps extends Took {
  readonly loss: number;
}

/** One implementation that trains a case. */
export interface TrainingRun {
  readonly name: string;
  /**
   * The peak size in bytes of the arrays that a step holds, including weights and AdamW's state, by the
   * library's own count.
   */
  bytes?(): number;
  /** Runs steps, and resolves when they are done. */
  steps(count: number): Promise<Steps>;
  close(): void;
}

/** The loss scale in f16. A dynamic scale would skip the first steps, until it no longer overflows. */
const LOSS_SCALE = 1024;

/**
 * Our implementation, on an engine of this process; with `autocast`, weights and the operands of products and
 * of attention are in 16 bits.
 */
export function ownRun<T extends TensorDesc>(
  engine: TensorEngine<T>,
  of: TrainingCase,
  autocast?: AutocastDType,
): TrainingRun {
  const model = createModel(readModel(of.config), { engine, dtype: autocast, autocast });
  const trainer = createTrainer(model, {
    learningRate: LEARNING_RATE,
    lossScale: autocast === 'f16' ? LOSS_SCALE : 1,
  });
  const tokens = tokensOf(of);
  return {
    name: autocast === undefined ? engine.name : `${engine.name}, ${autocast}`,
    bytes: () => (autocast === undefined ? 4 : 2) * model.parameterCount + trainer.bytes,
    async steps(count) {
      const stop = startStopwatch();
      let loss = Number.NaN;
      for (let n = 0; n < count; n++) ({ loss } = await trainer.step({ inputs: { tokens }, labels: tokens }));
      return { loss, ...stop() };
    },
    close() {
      trainer.release();
      model.release();
    },
  };
}
