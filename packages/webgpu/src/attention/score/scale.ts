import type { ScoreStageFactory } from './stage.ts';

/** s ← scale · s. */
export const scaleStage: ScoreStageFactory = () => ({
  uniforms: [{ name: 'scale', type: 'f32', value: { input: 'scale' } }],
  apply: 's *= P.scale;\n  slope *= P.scale;',
  masks: false,
});

/** s ← descaleQ · descaleK · s in FP8. The slope is by what the products of q and k mean, so it stays. */
export const descaleStage: ScoreStageFactory = ({ fp8 }) =>
  fp8?.kind === 'scaled' ? { apply: 's = fp8_product(s);', masks: false } : null;
