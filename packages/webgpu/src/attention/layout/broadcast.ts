import type { BroadcastDesc } from '@tilewise/core';
import { type UniformField, wholeUniforms } from '../../codegen/shader-part.ts';

/** Uniforms and `NAME_at(seq, h, i, j) -> u32`, the element of a tensor broadcast to (B, Hq, Sq, Skv). */
export function broadcastAddressing(
  name: string,
  { strides }: BroadcastDesc,
): { uniforms: UniformField[]; code: string } {
  const [sb, sh, si, sj] = strides;
  return {
    uniforms: wholeUniforms({ base: { offsetOf: name }, sb, sh, si, sj }, `${name}_`),
    code: `fn ${name}_at(seq: Sequence, h: u32, i: u32, j: u32) -> u32 {
  return P.${name}_base + seq.b * P.${name}_sb + h * P.${name}_sh + i * P.${name}_si + j * P.${name}_sj;
}`,
  };
}
