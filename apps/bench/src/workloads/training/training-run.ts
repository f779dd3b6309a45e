import type { TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { createModel, createTrainer, readModel } from '@tilewise/nn';
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
   * The most bytes of arrays that a step holds, including weights and AdamW's state, by the library's own
   * count.
   */
  bytes?(): number;
  /** Runs steps, and resolves when they are done. */
  steps(count: number): Promise<Steps>;
  close(): void;
}

/** Our implementation, on an engine of this process. */
export function ownRun<T extends TensorDesc>(engine: TensorEngine<T>, of: TrainingCase): TrainingRun {
  const model = createModel(readModel(of.config), { engine });
  const trainer = createTrainer(model, { learningRate: LEARNING_RATE });
  const tokens = tokensOf(of);
  return {
    name: engine.name,
    bytes: () => 4 * model.parameterCount + trainer.bytes,
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
