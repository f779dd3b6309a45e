import type { BroadcastDesc } from '@tilewise/core';
import { type BoundFormat, readBinding } from '../../codegen/formats/tensor-binding.ts';
import { readElement, type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';

/**
 * A tensor broadcast to (B, Hq, Sq, Skv), with `NAME_at(seq, h, i, j) -> u32`, the index of an element, and
 * `code`.
 * @param format default: bytes, such as booleans.
 */
export function broadcastPart(
  name: string,
  { strides }: BroadcastDesc,
  code: string,
  format: BoundFormat = { bytes: 1, scalarElement: 'u32' },
): ShaderPart {
  const [sb, sh, si, sj] = strides;
  return {
    bindings: [{ ...readBinding(name, format), gatherable: true }],
    uniforms: u32Uniforms({ base: { offsetOf: name }, sb, sh, si, sj }, `${name}_`),
    code: `fn ${name}_at(seq: Sequence, h: u32, i: u32, j: u32) -> u32 {
  return P.${name}_base + seq.b * P.${name}_sb + h * P.${name}_sh + i * P.${name}_si + j * P.${name}_sj;
}

${code}`,
  };
}

/** WGSL expression: whether element `at` of a boolean tensor is not 0. */
export const isTrue = (name: string): string =>
  `((${readElement(name, 'at >> 2u')} >> ((at & 3u) * 8u)) & 0xffu) != 0u`;
