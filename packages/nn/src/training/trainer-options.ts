import { InvalidArgumentError, type Tensor, type TensorDesc } from '@tilewise/core';
import type { LoraConfig } from '../lora/adapter.ts';
import type { Batch, Labels } from '../model/batch.ts';
import type { LossOptions } from './loss.ts';
import type { LossScale } from './loss-scale.ts';
import type { ParameterSettings } from './optimizer/buckets.ts';
import type { AdamWOptions, SgdOptions } from './optimizer/update-rule.ts';

/**
 * A batch with what is to be predicted: labels (B, S) of tokens, or (B) of images; −100 counts for nothing.
 */
export interface LabelledBatch {
  readonly inputs: Batch;
  readonly labels: Labels;
}

/** Parameters that are trained in another way than the rest. */
export interface ParameterGroup {
  /** The names that belong to the group; the first group that a name fits is the one that counts. */
  readonly names: RegExp;
  /** The factor of the learning rate; 0 leaves the parameters as they are. Default 1. */
  readonly rate?: number | undefined;
  /** Default: that of the optimizer. */
  readonly weightDecay?: number | undefined;
}

/** The options of a run. */
export interface TrainerOptions extends LossOptions {
  /**
   * Default: AdamW. `maxNorm` is the largest norm of all gradients as one vector, 1 unless given; null: any.
   */
  readonly optimizer?:
    | ((AdamWOptions | SgdOptions) & { readonly maxNorm?: number | null | undefined })
    | undefined;
  /** At each step, from 0: a number, or a schedule such as `cosineSchedule`. */
  readonly learningRate: number | ((step: number) => number);
  readonly groups?: readonly ParameterGroup[] | undefined;
  /** Trains an adapter and leaves the weights as they are. */
  readonly lora?: LoraConfig | undefined;
  /**
   * The factor of the loss before its gradients, which are divided by the factor again. Default: `'dynamic'`
   * where parameters of f16 are trained, half after gradients that are not finite (whose step is skipped) and
   * double after 2,000 steps; else 1.
   */
  readonly lossScale?: number | 'dynamic' | undefined;
  /** A state of a run with the same model and options, as `loadCheckpoint` gives it, to go on from. */
  readonly from?: Snapshot | undefined;
  /** Chooses the first weights of an adapter, and all dropout. Default 0. */
  readonly seed?: number | bigint | undefined;
}

/** A state of a run: what is trained by name, in f32, and what is remembered by `STATE.NAME`. */
export interface Snapshot {
  /** Steps done. */
  readonly steps: number;
  /** The state of the loss scale, of a run that adapts it. */
  readonly lossScale?: LossScale | undefined;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

/** The outcome of a step. */
export interface StepReport {
  /** From 0. */
  readonly step: number;
  /** The loss of the batch, before the update. */
  readonly loss: number;
  /** Share of the labels that were the likeliest class; of runs that ask for `accuracy`. */
  readonly accuracy?: number | undefined;
  readonly learningRate: number;
  /** Norm of all gradients as one vector, before they are clipped. */
  readonly gradientNorm: number;
  /** Whether the parameters stayed as they were, as a gradient was not finite. */
  readonly skipped: boolean;
}

/** How good a model is on a batch. */
export type Evaluation = Pick<StepReport, 'loss' | 'accuracy'>;

/** The loss of a batch, and its gradients by the names of what is trained. */
export interface LossAndGradients<T> {
  readonly loss: number;
  readonly gradients: ReadonlyMap<string, T>;
}

/** A model in training. One call at a time. */
export interface Trainer<T extends TensorDesc = TensorDesc> {
  /** Steps done. */
  readonly steps: number;
  /** The names of what is trained. */
  readonly trained: readonly string[];
  /**
   * A step on a batch, or on the mean over several whose gradients are added up, as if they were one batch.
   */
  step(batch: LabelledBatch | readonly LabelledBatch[]): Promise<StepReport>;
  /** The mean over the labels of a batch, or of several, without a step and without dropout. */
  evaluate(batch: LabelledBatch | readonly LabelledBatch[]): Promise<Evaluation>;
  /** The loss and its gradients, which the caller releases. */
  gradients(batch: LabelledBatch): Promise<LossAndGradients<T>>;
  /** The state of the run now. */
  snapshot(): Promise<Snapshot>;
  /** Bytes on the engine beside the model: gradients, the state of the optimizer, activations. */
  readonly bytes: number;
  /** Frees what it has on the engine beside the model. */
  release(): void;
}

/**
 * The settings of a parameter by the groups. @throws InvalidArgumentError for numbers out of their ranges.
 */
export function parameterSettings(
  groups: readonly ParameterGroup[],
  decay: number,
): (name: string) => ParameterSettings {
  for (const { names, rate = 1, weightDecay = 0 } of groups) {
    if (!(names instanceof RegExp)) throw new InvalidArgumentError('groups', `must have 'names' as a RegExp`);
    if (!(rate >= 0 && weightDecay >= 0 && rate + weightDecay < Infinity))
      throw new InvalidArgumentError(
        'groups',
        `must have a rate and a weightDecay of 0 or more for ${names}`,
      );
  }
  return name => {
    const { rate = 1, weightDecay = decay } = groups.find(({ names }) => names.test(name)) ?? {};
    return { rate, weightDecay };
  };
}
