import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import { toU64 } from '@tilewise/philox';
import { checkFields } from '../checks/check-fields.ts';
import { fromZero } from '../checks/rules.ts';
import { downloadAll } from '../model/download.ts';
import type { LabelledBatch } from '../model/labels.ts';
import { checkModel, type Model } from '../model/model.ts';
import { gradientPasses } from './gradients/gradient-passes.ts';
import { nextLossScale, startLossScale } from './loss-scale.ts';
import { bucketsOf } from './optimizer/buckets.ts';
import { createOptimizer } from './optimizer/optimizer.ts';
import { updateRule } from './optimizer/update-rule.ts';
import { checkParameters, parameterSettings, publishParameters, trainedParameters } from './parameters.ts';
import { serialQueue } from './serial-queue.ts';
import { type StepReport, type Trainer, type TrainerOptions, trainerRules } from './trainer-options.ts';

/** The number that PyTorch's `clip_grad_norm_` adds to the norm. */
const CLIP_EPSILON = 1e-6;

/**
 * Prepares to train a model: all its weights, or with `lora` only an adapter, so that only the adapter's
 * gradients and moments are computed and stored. Steps depend only on the options, the batches and the
 * engine: the same run gives the same losses.
 * @throws InvalidArgumentError for options that are invalid or do not fit the model.
 */
export function createTrainer<T extends TensorDesc>(model: Model<T>, options: TrainerOptions): Trainer<T> {
  checkModel(model);
  checkFields('options', options, trainerRules);
  const { engine } = model;
  const { lora, learningRate, from, seed = 0, groups = [] } = options;
  toU64(seed, 'seed');
  const rule = updateRule(options.optimizer ?? {});
  const settingsOf = parameterSettings(groups, rule.weightDecay);
  const { adapter, values } = trainedParameters(model, options, rule.state, settingsOf);
  const trained = [...values.keys()];
  const buckets = bucketsOf(values, settingsOf);
  const optimizer = createOptimizer(engine, rule, {
    ...{ values, buckets, from: from?.tensors },
    release: tensors => model.releaseReplaced(tensors),
  });
  if (adapter) model.adapter = adapter;
  const passes = gradientPasses(model, buckets, { ...options, seed });
  const hasHalfGradients = model.autocast === 'f16' || buckets.some(({ dtype }) => dtype === 'f16');
  const scaling = options.lossScale ?? (hasHalfGradients && 'dynamic');
  let lossScale = startLossScale(scaling, from?.lossScale);
  let steps = from?.steps ?? 0;

  const publish = (): void => publishParameters(model, lora !== undefined, optimizer);

  async function step(batches: readonly LabelledBatch[]): Promise<StepReport> {
    checkParameters(model, optimizer.values);
    const rate = rateOf(learningRate, steps);
    const scale = lossScale?.value ?? null;
    const { squaredNorm, flat, ...measured } = await passes.sum(batches, { step: steps, lossScale: scale });
    const gradientNorm = Math.sqrt(squaredNorm) / (scale ?? 1);
    const skipped = scale !== null && !Number.isFinite(gradientNorm);
    if (!skipped) {
      const gradientScale = clipFactor(gradientNorm, rule.maxNorm) / (scale ?? 1);
      const update = steps + 1 - (lossScale?.skipped ?? 0);
      try {
        await optimizer.step(flat, { step: update, learningRate: rate, gradientScale });
      } finally {
        // The optimizer may have released the tensors of the model before it failed.
        publish();
      }
    }
    lossScale &&= nextLossScale(lossScale, !skipped, scaling === 'dynamic');
    return { step: steps++, ...measured, learningRate: rate, gradientNorm, skipped };
  }

  let isReleased = false;
  const queue = serialQueue();
  /** Runs a call after the calls before it, because all calls share memory and weights. */
  const inTurn = <R>(call: () => Promise<R>): Promise<R> =>
    queue(async () => {
      if (isReleased) throw new InvalidArgumentError('trainer', 'has been released');
      return call();
    });

  const withState: Trainer<T>['withState'] = use =>
    inTurn(async () => {
      checkParameters(model, optimizer.values);
      const tensors = await optimizer.state();
      publish();
      return use({ steps, tensors, ...(lossScale && { lossScale }) }, engine);
    });

  if (from) publish();
  return {
    trained,
    get steps() {
      return steps;
    },
    get bytes() {
      return passes.bytes + optimizer.bytes;
    },
    step: given => inTurn(() => step(listOf(given))),
    evaluate: given => inTurn(() => passes.evaluate(listOf(given))),
    gradients: batch => inTurn(() => passes.gradients(batch, { step: steps, lossScale: null })),
    snapshot: () =>
      withState(async state => ({ ...state, tensors: await downloadAll(engine, state.tensors) })),
    withState,
    release() {
      if (isReleased) return;
      isReleased = true;
      passes.release();
      optimizer.release();
    },
  };
}

/** The learning rate of a step. @throws InvalidArgumentError for an invalid result of the function. */
function rateOf(learningRate: TrainerOptions['learningRate'], step: number): number {
  const rate = typeof learningRate === 'number' ? learningRate : learningRate(step);
  if (fromZero.holds(rate)) return rate;
  throw new InvalidArgumentError('learningRate', `${fromZero.rule} in step ${step}, got ${rate}`);
}

/** The factor of gradients whose norm must be at most `maxNorm`, as in PyTorch's `clip_grad_norm_`. */
function clipFactor(norm: number, maxNorm: number | null): number {
  return maxNorm === null ? 1 : maxNorm / Math.max(norm + CLIP_EPSILON, maxNorm);
}

const listOf = (given: LabelledBatch | readonly LabelledBatch[]): readonly LabelledBatch[] =>
  [given].flat() as LabelledBatch[];
