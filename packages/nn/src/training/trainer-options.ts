import type { Tensor, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { FieldRules, Rule } from '../checks/check-fields.ts';
import { anything, fromZero, integerFrom, numberOrFunction, required } from '../checks/rules.ts';
import type { LoraConfig } from '../model/adapter.ts';
import type { LabelledBatch } from '../model/labels.ts';
import { type LossOptions, lossRules } from './loss.ts';
import { isLossScale, type LossScale } from './loss-scale.ts';
import type { AdamWOptions, SgdOptions } from './optimizer/update-rule.ts';

/** Parameters with their own training settings. */
export interface ParameterGroup {
  /** The names that belong to the group; a name belongs to the first group that it matches. */
  readonly names: RegExp;
  /** The factor of the learning rate; 0 freezes the parameters. Default 1. */
  readonly rate?: number | undefined;
  /** The weight decay of the parameters. Default: that of the optimizer. */
  readonly weightDecay?: number | undefined;
}

/** How a model is trained. */
export interface TrainerOptions extends LossOptions {
  /** The optimizer. Default: AdamW. */
  readonly optimizer?: AdamWOptions | SgdOptions | undefined;
  /** The learning rate: a number, or a function of the step (from 0) such as `cosineSchedule`. */
  readonly learningRate: number | ((step: number) => number);
  /** Parameters with their own learning rate and weight decay. Default: none. */
  readonly groups?: readonly ParameterGroup[] | undefined;
  /** Trains an adapter and freezes the weights. */
  readonly lora?: LoraConfig | undefined;
  /**
   * The loss is multiplied by this factor before backward, and the gradients are divided by it. Default:
   * `'dynamic'` if f16 parameters are trained or the model's `autocast` is f16, otherwise 1. A dynamic factor
   * is halved after gradients that are not finite (their step is skipped) and doubled after 2,000 steps.
   */
  readonly lossScale?: number | 'dynamic' | undefined;
  /** A state of a run with the same model and options, from `loadCheckpoint`, to continue from. */
  readonly from?: Snapshot | undefined;
  /** The seed of an adapter's initial weights and of all dropout. Default 0. */
  readonly seed?: number | bigint | undefined;
}

export const snapshotRule: Rule = {
  rule: 'must be a state of a run, from loadCheckpoint',
  holds: x => {
    const { steps, tensors, lossScale } = { ...(x as Snapshot) };
    const isScale =
      lossScale === undefined || (isLossScale({ ...lossScale }) && (lossScale.skipped ?? 0) <= steps);
    return tensors instanceof Map && integerFrom(0).holds(steps) && isScale;
  },
};

/** The rules of an optimizer's options are in `update-rule.ts`, those of `lora` in `adapter.ts`. */
export const trainerRules: FieldRules<TrainerOptions> = {
  ...lossRules,
  optimizer: anything,
  learningRate: required(numberOrFunction),
  groups: { rule: 'must be an array', holds: Array.isArray },
  lora: anything,
  lossScale: {
    rule: "must be a number > 0, or 'dynamic'",
    holds: x => x === 'dynamic' || (fromZero.holds(x) && x !== 0),
  },
  from: snapshotRule,
  seed: anything,
};

/** The state of a run: the trained tensors by name, in f32, and the optimizer's state by `STATE.NAME`. */
export interface Snapshot<T = Tensor> {
  /** Steps done. */
  readonly steps: number;
  /** The state of the loss scale, if the loss is scaled. */
  readonly lossScale?: LossScale | undefined;
  /** The tensors by name: on the host, or on the engine in `withState`. */
  readonly tensors: ReadonlyMap<string, T>;
}

/** The outcome of a step. */
export interface StepReport {
  /** The number of the step, from 0. */
  readonly step: number;
  /** The loss of the batch, before the update. */
  readonly loss: number;
  /** The fraction of labels that were the most likely class, if the option `accuracy` is set. */
  readonly accuracy?: number | undefined;
  /** The learning rate of the step, before the factors of groups. */
  readonly learningRate: number;
  /** The norm of all gradients as one vector, before clipping. */
  readonly gradientNorm: number;
  /** Whether the update was skipped because a gradient was not finite. */
  readonly skipped: boolean;
}

/** The loss, and optionally the accuracy, of a model on a batch. */
export type Evaluation = Pick<StepReport, 'loss' | 'accuracy'>;

/** The loss of a batch, and its gradients by the names of the trained tensors. */
export interface LossAndGradients<T> {
  /** The mean cross-entropy of the labels. */
  readonly loss: number;
  /** The gradients by the names of the trained tensors, in their shapes and dtypes. */
  readonly gradients: ReadonlyMap<string, T>;
}

/** A model in training. Calls run one after the other, in the order in which they were made. */
export interface Trainer<T extends TensorDesc = TensorDesc> {
  /** Steps done. */
  readonly steps: number;
  /** The names of the trained tensors. */
  readonly trained: readonly string[];
  /** A step on one batch, or on several as if they were one batch: their gradients are accumulated. */
  step(batch: LabelledBatch | readonly LabelledBatch[]): Promise<StepReport>;
  /** The mean over the labels of a batch, or of several, without a step and without dropout. */
  evaluate(batch: LabelledBatch | readonly LabelledBatch[]): Promise<Evaluation>;
  /** The loss and its gradients, which the caller releases. */
  gradients(batch: LabelledBatch): Promise<LossAndGradients<T>>;
  /** The state of the run now. */
  snapshot(): Promise<Snapshot>;
  /**
   * Calls a function with the state of the run on the engine, without a copy. Later calls of the trainer wait
   * until the function's promise settles; the tensors must not be used afterwards.
   */
  withState<R>(use: (state: Snapshot<T>, engine: TensorEngine<T>) => Promise<R>): Promise<R>;
  /** The memory on the engine besides the model, in bytes: gradients, optimizer state, activations. */
  readonly bytes: number;
  /** Frees the trainer's memory on the engine, but not the model. Await all other calls first. */
  release(): void;
}
