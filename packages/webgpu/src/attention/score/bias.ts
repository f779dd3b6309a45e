import { isNegativeInfinity } from '../../codegen/formats/float-bits.ts';
import { storageFormat } from '../../codegen/formats/storage-format.ts';
import { readElement } from '../../codegen/shader-part.ts';
import { broadcastPart } from '../layout/broadcast.ts';
import type { ScoreStageFactory } from './stage.ts';

/** s ← s + bias; an entry of −Infinity hides its key. */
export const biasStage: ScoreStageFactory = ({ bias }) => {
  if (!bias) return null;
  const format = storageFormat(bias.dtype);
  const code = `fn bias_value(at: u32) -> f32 {
  return ${format.load(index => readElement('bias', index), 'at')};
}`;
  return {
    ...broadcastPart('bias', bias, code, format),
    requires: [isNegativeInfinity, ...format.requires],
    apply: `let bias_first = bias_at(seq, h, i, j);
  for (var c = 0u; c < 4u; c++) {
    let bias_here = bias_value(bias_first + c * P.bias_sj);
    if (is_negative_infinity(bias_here)) {
      visible[c] = false;
    } else {
      s[c] += bias_here;
    }
  }`,
    masks: true,
  };
};
