import type { AttentionProblem } from '@tilewise/core';
import type { ShaderPart } from '../kernel/shader-part.ts';

/** `row_at(seq, h, i) -> u32`: element of an lse-like tensor, (B, Hq, Sq) contiguous, packed (Hq, T). */
export function rowAddressing({ packed, q, Hq }: AttentionProblem): ShaderPart {
  return {
    uniforms: [
      { name: 'Hq', type: 'u32', value: Hq },
      { name: 'row_stride_h', type: 'u32', value: q.shape[2] },
    ],
    code: `fn row_at(seq: Sequence, h: u32, i: u32) -> u32 {
  return ${packed ? 'h * P.row_stride_h + seq.start_q + i' : '(seq.b * P.Hq + h) * P.row_stride_h + i'};
}`,
  };
}

/** A contiguous f32 tensor with one number per row, bound as `element` ('u32' where −Infinity must be written as bits). */
export function rowTensor(
  name: string,
  access: 'read' | 'read_write',
  element: 'f32' | 'u32' | 'vec2f',
): ShaderPart {
  const bytes = element === 'vec2f' ? 8 : 4;
  return {
    bindings: [{ name, element, access, elementBytes: bytes, alignment: bytes }],
    uniforms: [{ name: `${name}_base`, type: 'u32', value: { offsetOf: name } }],
  };
}
