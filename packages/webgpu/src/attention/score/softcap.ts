import { isNaN4 } from '../../codegen/formats/float-bits.ts';
import { accurateTanh } from '../../codegen/formats/tanh.ts';
import type { ScoreStageFactory } from './stage.ts';

/** s ← c · tanh(s / c), with slope 1 − tanh². */
export const softcapStage: ScoreStageFactory = ({ softcap }) =>
  softcap === null
    ? null
    : {
        requires: [accurateTanh, isNaN4],
        uniforms: [
          { name: 'softcap', type: 'f32', value: softcap },
          { name: 'softcap_inverse', type: 'f32', value: 1 / softcap },
        ],
        apply: `let capped = accurate_tanh(s * P.softcap_inverse);
  s = select(P.softcap * capped, s, is_nan(s));
  slope *= 1.0 - capped * capped;`,
        masks: false,
      };
