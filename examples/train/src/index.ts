export { type Checkpoint, decodeCheckpoint } from './checkpoint.ts';
export type { TrainConfig } from './config.ts';
export { defaultConfig, trainConfig } from './config.ts';
export type { Dataset, Sequences } from './data/dataset.ts';
export { drawRecall, type RecallSequences, recallDataset } from './data/recall.ts';
export { textDataset, vocabularyDataset } from './data/text.ts';
export { charactersOf, type Vocabulary, vocabularyOf } from './data/vocabulary.ts';
export { randomStream } from './random.ts';
export { createRun, type Run, type RunOptions } from './run.ts';
