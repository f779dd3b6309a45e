import { markNonFinite } from '../../codegen/formats/float-bits.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import { listElement, listPart } from '../layout/list.ts';

/**
 * `join_sink(h, m, l) -> vec3f`: the maximum and the sum of a row of head h after the sink has joined its
 * softmax as a key without a value, and the factor for everything summed before.
 */
export const sinkPart: () => ShaderPart = () => ({
  ...listPart('sink', 'f32'),
  requires: [markNonFinite],
  code: `fn join_sink(h: u32, m: f32, l: f32) -> vec3f {
  let logit = mark_non_finite(vec4f(${listElement('sink', 'h')})).x;
  let m_new = max(m, logit);
  let rescale = exp(m - m_new);
  return vec3f(m_new, l * rescale + exp(logit - m_new), rescale);
}`,
});
