import type { ExportOptions } from '../python/options.ts';

/** The options of the command line of `train.py`. */
export const trainingOptionNames = [
  'steps',
  'mesh',
  'order',
  'parallel',
  'weights',
  'batches',
  'dir',
  'every',
  'save',
  'lr',
  'warmup',
  'decay',
  'betas',
  'eps',
  'weight-decay',
  'clip',
] as const;

/** An option of the command line of `train.py`, without its dashes. */
export type TrainingOptionName = (typeof trainingOptionNames)[number];

/** The options of an export to PyTorch. Tensors are given by id. */
export interface TorchOptions extends ExportOptions {
  /** Defaults for the command line of `train.py`, such as `{ lr: 1e-3, warmup: 50 }`. */
  readonly training?: Readonly<Partial<Record<TrainingOptionName, number | string | undefined>>> | undefined;
}
