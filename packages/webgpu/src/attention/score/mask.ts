import { broadcastPart, isTrue } from '../layout/broadcast.ts';
import type { ScoreStageFactory } from './stage.ts';

/** Hides the keys whose boolean mask is 0. */
export const maskStage: ScoreStageFactory = ({ mask }) =>
  mask && {
    ...broadcastPart(
      'mask',
      mask,
      `fn mask_value(at: u32) -> bool {
  return ${isTrue('mask')};
}`,
    ),
    apply: `let mask_first = mask_at(seq, h, i, j);
  for (var c = 0u; c < 4u; c++) {
    visible[c] = visible[c] && mask_value(mask_first + c * P.mask_sj);
  }`,
    masks: true,
  };
