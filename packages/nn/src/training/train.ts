import type { TensorDesc } from '@tilewise/core';
import { checkArgument, checkFields, type FieldRules } from '../checks/check-fields.ts';
import { anything, callback, hasMethod, integerFrom, required, signalRule } from '../checks/rules.ts';
import type { LabelledBatch } from '../model/labels.ts';
import type { Evaluation, StepReport, Trainer } from './trainer-options.ts';

/** The options of a training loop. */
export interface TrainOptions {
  /** The run ends when the trainer has done this many steps. */
  readonly steps: number;
  /**
   * The number of batches whose gradients are accumulated for a step. If fewer are left at the end, they are
   * not used. Default 1.
   */
  readonly accumulate?: number | undefined;
  /** Ends the run before the next step. */
  readonly signal?: AbortSignal | undefined;
  /** When the model is evaluated, and on what. Default: never. */
  readonly evaluation?:
    | {
        /** The batches to evaluate. */
        readonly batches: readonly LabelledBatch[];
        /** The number of steps between two evaluations; there is another after the last step. */
        readonly every: number;
      }
    | undefined;
  /** Called after each step; the next step waits for its promise. You can save a checkpoint here. */
  readonly onStep?: ((report: StepReport) => unknown) | undefined;
  /**
   * Called after each evaluation with its result and the number of steps done; the next step waits for its
   * promise.
   */
  readonly onEvaluation?: ((report: Evaluation & { readonly steps: number }) => unknown) | undefined;
}

const trainRules: FieldRules<TrainOptions> = {
  steps: required(integerFrom(1)),
  accumulate: integerFrom(1),
  signal: signalRule,
  evaluation: anything,
  onStep: callback,
  onEvaluation: callback,
};

const evaluationRules: FieldRules<NonNullable<TrainOptions['evaluation']>> = {
  batches: required({ rule: 'must be an array of batches', holds: Array.isArray }),
  every: required(integerFrom(1)),
};

/**
 * Trains until a number of steps is done, or the batches end.
 * @param batches the batches; each step takes the next `accumulate` of them. To continue a run, pass the
 * batches that the trainer has not seen.
 * @returns whether all steps were done.
 * @throws InvalidArgumentError for invalid options; the signal's reason; errors of the batches and the
 * callbacks.
 */
export async function train<T extends TensorDesc>(
  trainer: Trainer<T>,
  batches: Iterable<LabelledBatch> | AsyncIterable<LabelledBatch>,
  options: TrainOptions,
): Promise<boolean> {
  checkFields('options', options, trainRules);
  const { steps, accumulate = 1, signal, evaluation, onStep, onEvaluation } = options;
  checkArgument('batches', batches, {
    rule: 'must be iterable',
    holds: x => hasMethod(x, Symbol.iterator) || hasMethod(x, Symbol.asyncIterator),
  });
  if (evaluation) checkFields('evaluation', evaluation, evaluationRules);
  signal?.throwIfAborted();
  let collected: LabelledBatch[] = [];
  if (trainer.steps >= steps) return true;
  for await (const batch of batches) {
    signal?.throwIfAborted();
    collected.push(batch);
    if (collected.length < accumulate) continue;
    const report = await trainer.step(collected);
    collected = [];
    await onStep?.(report);
    const isLast = trainer.steps >= steps;
    if (evaluation && (isLast || trainer.steps % evaluation.every === 0))
      await onEvaluation?.({ steps: trainer.steps, ...(await trainer.evaluate(evaluation.batches)) });
    if (isLast) return true;
  }
  return false;
}
