import type { ScoreStageFactory } from './stage.ts';

/** s ← scale · s. */
export const scaleStage: ScoreStageFactory = () => ({
  uniforms: [{ name: 'scale', type: 'f32', value: { input: 'scale' } }],
  apply: 's *= P.scale;\n  slope *= P.scale;',
  masks: false,
});

/**
 * s ← descaleQ · descaleK · s in FP8. The slope does not change, because it is a derivative with respect to
 * the descaled product of q and k.
 */
export const descaleStage: ScoreStageFactory = ({ fp8 }) =>
  fp8?.kind === 'scaled' ? { apply: 's = fp8_product(s);', masks: false } : null;
