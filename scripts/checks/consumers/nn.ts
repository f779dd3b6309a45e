import type {
  Batch,
  CreateOptions,
  GenerateOptions,
  LoadOptions,
  LoraConfig,
  ParameterGroup,
  Trainer,
  TrainerOptions,
  TrainOptions,
} from '@tilewise/nn';
import { writeCheckpoint } from '@tilewise/nn';
import type { ReadOptions } from '@tilewise/nn/checkpoint';
import type { HubOptions } from '@tilewise/nn/hub';
import type { exportTorch } from '@tilewise/nn/torch';
import { type Closed, none } from './optional.ts';

none<Closed<ReadOptions>>();
none<Closed<HubOptions>>();
none<Closed<LoadOptions<never>>>();
none<Closed<Batch>>();
none<Closed<GenerateOptions>>();
none<Closed<CreateOptions<never>>>();
none<Closed<TrainerOptions>>();
none<Closed<TrainOptions>>();
none<Closed<ParameterGroup>>();
none<Closed<LoraConfig>>();
none<Closed<NonNullable<TrainerOptions['optimizer']>>>();

/** A page can download what it exports, and write a checkpoint in chunks. */
export const exported = (files: Awaited<ReturnType<typeof exportTorch>>): Blob =>
  new Blob(Object.values(files));
export const written = (trainer: Trainer, file: FileSystemWritableFileStream): Promise<void> =>
  writeCheckpoint(trainer, chunk => file.write(chunk));
/** A callback of training may return anything. */
export const lossesInto =
  (losses: number[]): TrainOptions['onStep'] =>
  report =>
    losses.push(report.loss);
