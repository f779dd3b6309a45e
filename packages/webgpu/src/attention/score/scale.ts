import type { ScoreStageFactory } from './stage.ts';

/** s ← scale · s. */
export const scaleStage: ScoreStageFactory = () => ({
  uniforms: [{ name: 'scale', type: 'f32', value: { input: 'scale' } }],
  apply: 's *= P.scale;\n  slope *= P.scale;',
  masks: false,
});
