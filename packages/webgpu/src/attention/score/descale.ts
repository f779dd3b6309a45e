import type { ScoreStageFactory } from './stage.ts';

/** s ← descaleQ · descaleK · s in FP8. The slope is by what the products of q and k mean, so it stays. */
export const descaleStage: ScoreStageFactory = ({ fp8 }) =>
  fp8?.kind === 'scaled' ? { apply: 's = fp8_product(s);', masks: false } : null;
