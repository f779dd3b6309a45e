import { defaultConfig, type TrainConfig } from '../config.ts';

interface TaskDefaults {
  readonly steps: number;
  /** The characters that continue a sample. */
  readonly length: number;
  readonly config: TrainConfig;
}

/** What each task does by default. */
export const taskDefaults: Readonly<Record<'recall' | 'text', TaskDefaults>> = {
  recall: { steps: 400, length: 1, config: defaultConfig },
  text: { steps: 500, length: 200, config: { ...defaultConfig, dim: 64, context: 64, batch: 16 } },
};
