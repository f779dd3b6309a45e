import type { ScoreStageFactory } from './stage.ts';

/** s ← s − slope[h] · |i + diagonal − j| (Press et al. 2022, in FlashAttention's form). */
export const alibiStage: ScoreStageFactory = ({ alibi }) =>
  alibi
    ? {
        bindings: [{ name: 'alibi', element: 'f32', access: 'read', elementBytes: 4, alignment: 4 }],
        uniforms: [{ name: 'alibi_base', type: 'u32', value: { offsetOf: 'alibi' } }],
        apply: `let distance = vec4i(i32(i) + seq.diagonal - i32(j)) - vec4i(0, 1, 2, 3);
  s -= alibi[P.alibi_base + h] * vec4f(abs(distance));`,
        hides: false,
      }
    : null;
