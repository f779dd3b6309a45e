import { listElement, listPart } from '../layout/list.ts';
import type { ScoreStageFactory } from './stage.ts';

/** s ← s − slope[h] · |i + diagonal − j| (Press et al. 2022, in FlashAttention's form). */
export const alibiStage: ScoreStageFactory = ({ alibi }) =>
  alibi
    ? {
        ...listPart('alibi', 'f32'),
        apply: `let distance = vec4i(i32(i) + seq.diagonal - i32(j)) - vec4i(0, 1, 2, 3);
  s -= ${listElement('alibi', 'h')} * vec4f(abs(distance));`,
        masks: false,
      }
    : null;
