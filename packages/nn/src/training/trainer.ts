import { InvalidArgumentError, sameShape, type Tensor, type TensorDesc } from '@tilewise/core';
import { toU64 } from '@tilewise/philox';
import { checkFields } from '../checks/check-fields.ts';
import { fromZero } from '../checks/rules.ts';
import { initialAdapter } from '../lora/initial-adapter.ts';
import { type AdapterConfig, loraRules } from '../model/adapter.ts';
import { downloadAll } from '../model/download.ts';
import type { LabelledBatch } from '../model/labels.ts';
import { checkModel, type Model } from '../model/model.ts';
import { uploadAll } from '../model/upload.ts';
import { gradientPasses } from './gradient-passes.ts';
import { initialLossScale, type LossScale, nextLossScale } from './loss-scale.ts';
import { bucketsOf } from './optimizer/buckets.ts';
import { createOptimizer } from './optimizer/optimizer.ts';
import { updateRule } from './optimizer/update-rule.ts';
import {
  parameterSettings,
  type Snapshot,
  type StepReport,
  type Trainer,
  type TrainerOptions,
  trainerRules,
} from './trainer-options.ts';

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
  if (lora) checkFields('lora', lora, loraRules);
  const { dropout = 0, rankStabilised = false } = lora ?? {};
  const config = lora && { ...lora, dropout, rankStabilised };
  if (config && model.adapter) checkSameAdapter(config, model.adapter.config);
  const adapter = config && (model.adapter ?? initialAdapter(model, config, seed));
  const all = adapter ? new Map(Object.entries(adapter.tensors)) : model.weights;
  const own = new Map([...all].filter(([name]) => settingsOf(name).rate > 0));
  if (own.size === 0)
    throw new InvalidArgumentError('groups', 'must leave a parameter to train: all rates are 0');
  const trained = [...own.keys()];
  const buckets = bucketsOf(own, settingsOf);
  const optimizer = createOptimizer(engine, rule, {
    values: from ? restored(model, own, from, rule.state) : own,
    release: tensors => model.releaseReplaced(tensors),
    buckets,
    from: from?.tensors,
  });
  if (adapter) model.adapter = adapter;
  const hasHalfGradients = model.autocast === 'f16' || [...own.values()].some(({ dtype }) => dtype === 'f16');
  const isScaled = options.lossScale ?? (hasHalfGradients && 'dynamic');
  const passes = gradientPasses(model, buckets, { ...options, seed });
  let lossScale: LossScale | null = null;
  if (isScaled === 'dynamic') lossScale = from?.lossScale ?? initialLossScale;
  else if (typeof isScaled === 'number') lossScale = { value: isScaled, steady: 0 };
  let steps = from?.steps ?? 0;

  /** Puts the current trained tensors into the model. */
  function publish(): void {
    if (lora && model.adapter)
      model.adapter = {
        ...model.adapter,
        tensors: { ...model.adapter.tensors, ...Object.fromEntries(optimizer.values) },
      };
    else for (const [name, value] of optimizer.values) model.weights.set(name, value);
    model.updateMemory(optimizer.memory);
  }

  /** The rate of the next step, from the learning rate or its function. */
  function rateOfStep(): number {
    const rate = typeof learningRate === 'number' ? learningRate : learningRate(steps);
    if (fromZero.holds(rate)) return rate;
    throw new InvalidArgumentError('learningRate', `${fromZero.rule} in step ${steps}, got ${rate}`);
  }

  /**
   * Checks that the model has the tensors that this trainer trains. Another trainer, or a merged adapter,
   * would have released them.
   */
  function checkTensors(): void {
    const bound = model.bindings();
    const lost = trained.find(name => bound[name] !== optimizer.values.get(name));
    if (lost === undefined) return;
    throw new InvalidArgumentError('model', `no longer has '${lost}' of this trainer: create a new trainer`);
  }

  async function step(batches: readonly LabelledBatch[]): Promise<StepReport> {
    checkTensors();
    const rate = rateOfStep();
    const numbers = { step: steps, lossScale: lossScale?.value ?? null };
    const { squaredNorm, flat, ...measured } = await passes.sum(batches, numbers);
    const scale = lossScale?.value ?? 1;
    const gradientNorm = Math.sqrt(squaredNorm) / scale;
    const skipped = lossScale !== null && !Number.isFinite(gradientNorm);
    if (!skipped) {
      const { maxNorm } = rule;
      const clip = maxNorm === null ? 1 : maxNorm / Math.max(gradientNorm + CLIP_EPSILON, maxNorm);
      try {
        const counted = steps + 1 - (lossScale?.skipped ?? 0);
        await optimizer.step(flat, { step: counted, learningRate: rate, gradientScale: clip / scale });
      } finally {
        // The optimizer may have released the tensors of the model before it failed.
        publish();
      }
    }
    if (lossScale && isScaled === 'dynamic') lossScale = nextLossScale(lossScale, !skipped);
    return { step: steps++, ...measured, learningRate: rate, gradientNorm, skipped };
  }

  let isReleased = false;
  let last: Promise<unknown> | undefined;
  /** Runs a call after the calls before it, even if these failed: all calls share memory and weights. */
  function inTurn<R>(call: () => Promise<R>): Promise<R> {
    const next = async (): Promise<R> => {
      if (isReleased) throw new InvalidArgumentError('trainer', 'has been released');
      return call();
    };
    const result = last ? last.then(next, next) : next();
    last = result;
    return result;
  }

  const withState: Trainer<T>['withState'] = use =>
    inTurn(async () => {
      checkTensors();
      const tensors = await optimizer.state();
      publish();
      const state = { steps, tensors, ...(lossScale && isScaled === 'dynamic' && { lossScale }) };
      return use(state, engine);
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

const listOf = (given: LabelledBatch | readonly LabelledBatch[]): readonly LabelledBatch[] =>
  [given].flat() as LabelledBatch[];

/**
 * Training continues with the adapter that the model already has, so options that differ from it would be
 * ignored.
 */
function checkSameAdapter(wanted: AdapterConfig, own: AdapterConfig): void {
  for (const name of Object.keys(wanted) as (keyof AdapterConfig)[]) {
    // peft writes the targets, which are a set, in any order.
    const [given, has] = [wanted[name], own[name]].map(value =>
      JSON.stringify(Array.isArray(value) ? [...value].sort() : value),
    );
    if (given !== has)
      throw new InvalidArgumentError(
        `lora.${name}`,
        `is ${given}, but the model's adapter has ${has}: use ${has}, or load the model again`,
      );
  }
}

/**
 * The trained tensors with the values of a state. The tensors that they replace are released once all new
 * ones are on the engine, so that the model stays as it is on an error.
 * @throws InvalidArgumentError for tensors of another run or with another dtype; an error of the engine, such
 * as OUT_OF_MEMORY.
 */
function restored<T extends TensorDesc>(
  model: Model<T>,
  own: ReadonlyMap<string, T>,
  { tensors }: Snapshot,
  state: readonly string[],
): Map<string, T> {
  const shapes = new Map(
    [...own].flatMap(([name, { shape }]) =>
      [name, ...state.map(role => `${role}.${name}`)].map(key => [key, shape] as const),
    ),
  );
  for (const [name, { shape, dtype }] of tensors) {
    const wanted = shapes.get(name);
    if (!wanted || !sameShape(wanted, shape) || dtype !== 'f32') {
      const rule = wanted ? `must be f32 of [${wanted}] here` : 'belongs to no parameter here';
      throw new InvalidArgumentError('from', `has '${name}', ${dtype} of [${shape}], which ${rule}`);
    }
  }
  for (const [name, shape] of shapes)
    if (!tensors.has(name))
      throw new InvalidArgumentError(
        'from',
        `has no '${name}' of shape [${shape}]: it is the state of another run`,
      );
  const uploaded = uploadAll(model.engine, own, ({ dtype }, name) =>
    (tensors.get(name) as Tensor).cast(dtype),
  );
  model.releaseReplaced(own.values());
  return uploaded;
}
