export type { Dataset } from './data/dataset.ts';
export { recallDataset } from './data/recall.ts';
export { textDataset } from './data/text.ts';
export { randomStream } from './random.ts';
export { createRun, type Run } from './run.ts';
