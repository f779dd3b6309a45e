import type { ScoreStageFactory } from './stage.ts';

/** s ← scale · s. */
export const scaleStage: ScoreStageFactory = ({ scale }) => ({
  uniforms: [{ name: 'scale', type: 'f32', value: scale }],
  apply: 's *= P.scale;\n  slope *= P.scale;',
  hides: false,
});
