import { readElement } from '../../codegen/shader-part.ts';
import { broadcastAddressing } from '../layout/broadcast.ts';
import type { ScoreStageFactory } from './stage.ts';

/** Hides the keys whose boolean mask is 0. */
export const maskStage: ScoreStageFactory = ({ mask }) => {
  if (!mask) return null;
  const { uniforms, code } = broadcastAddressing('mask', mask);
  return {
    uniforms,
    bindings: [
      { name: 'mask', element: 'u32', access: 'read', elementBytes: 1, alignment: 1, gatherable: true },
    ],
    code: `${code}

fn mask_value(at: u32) -> bool {
  return ((${readElement('mask', 'at >> 2u')} >> ((at & 3u) * 8u)) & 0xffu) != 0u;
}`,
    apply: `let mask_first = mask_at(seq, h, i, j);
  for (var c = 0u; c < 4u; c++) {
    visible[c] = visible[c] && mask_value(mask_first + c * P.mask_sj);
  }`,
    masks: true,
  };
};
