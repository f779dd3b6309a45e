export type { Architecture, ModelDefinition } from './architectures/architecture.ts';
export { architectures, readModel } from './architectures/read-model.ts';
export type { AutocastDType } from './architectures/transformer/scope.ts';
export type { CreateOptions } from './create-model.ts';
export { createModel } from './create-model.ts';
export {
  CheckpointError,
  type CheckpointPlace,
  encodeSafetensors,
  folderFiles,
  givenFiles,
  type ModelFiles,
  readSafetensors,
} from './files/checkpoint/index.ts';
export { ConfigError } from './files/config/config-error.ts';
export type { GenerateOptions } from './generation/generate.ts';
export { generate, generateBatch } from './generation/generate.ts';
export type { SamplingOptions } from './generation/sampling.ts';
export { chooseToken } from './generation/sampling.ts';
export type { LoadModelOptions } from './load-model.ts';
export { LoadedModel, loadModel } from './load-model.ts';
export { mergeAdapter } from './lora/merge-adapter.ts';
export { adapterFiles, loadAdapter } from './lora/peft-files.ts';
export { saveAdapter } from './lora/save-adapter.ts';
export type { AdapterConfig, AdapterWeights, LoraConfig } from './model/adapter.ts';
export type { Batch } from './model/batch.ts';
export type { LabelledBatch } from './model/labels.ts';
export type { LoadOptions } from './model/model.ts';
export { Model } from './model/model.ts';
export type { WeightDType } from './model/weights.ts';
export { parameterShapes } from './model/weights.ts';
export type { CharacterTokenizer } from './tokenizer/character-tokenizer.ts';
export { characterTokenizer } from './tokenizer/character-tokenizer.ts';
export type { ScheduleOptions } from './training/optimizer/schedules.ts';
export { cosineSchedule, linearSchedule } from './training/optimizer/schedules.ts';
export type { SgdStep } from './training/optimizer/sgd.ts';
export { sgd } from './training/optimizer/sgd.ts';
export type { AdamWOptions, SgdOptions } from './training/optimizer/update-rule.ts';
export type { TrainOptions } from './training/train.ts';
export { train } from './training/train.ts';
export { createTrainer } from './training/trainer.ts';
export type {
  Evaluation,
  LossAndGradients,
  ParameterGroup,
  Snapshot,
  StepReport,
  Trainer,
  TrainerOptions,
} from './training/trainer-options.ts';
export type { SavedRun } from './training/training-checkpoint.ts';
export { loadCheckpoint, saveCheckpoint, writeCheckpoint } from './training/training-checkpoint.ts';
