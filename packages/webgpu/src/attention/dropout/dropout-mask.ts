import type { AttentionProblem } from '@tilewise/core';
import { readBinding } from '../../codegen/formats/tensor-binding.ts';
import { invocationIndex, invocations, type KernelSpec, kernelSpec } from '../../codegen/kernel-spec.ts';
import { u32Uniforms } from '../../codegen/shader-part.ts';
import { dropoutMaskOutput } from '../config/tensor-names.ts';
import { sequencePart } from '../layout/sequence.ts';
import { dropoutPart } from './dropout.ts';

/**
 * The decisions of dropout for all pairs, including masked pairs, as u8 (B, Hq, Sq, Skv), 1 = kept; 0 beyond
 * the end of packed and ragged sequences. A lane writes a word of four decisions; the last word contains only
 * those that belong to the mask.
 */
export function dropoutMaskKernel(problem: AttentionProblem): KernelSpec {
  const { B, Hq, Sq, Skv, q, k } = problem;
  const dropout = dropoutPart(problem);
  const count = B * Hq * Sq * Skv;
  const words = readBinding(dropoutMaskOutput, { bytes: 1, scalarElement: 'u32' }, true);
  const body = `
  let word = ${invocationIndex};
  let first = word * 4u;
  if (first < P.count) {
    var kept = vec4<bool>(false);
    if (first % P.Skv + 4u <= P.Skv) {
      kept = kept4(first);
    } else {
      for (var c = 0u; c < min(4u, P.count - first); c++) {
        kept[c] = kept4(first + c).x;
      }
    }
    let bytes = dot(select(vec4u(), vec4u(1u, 0x100u, 0x10000u, 0x1000000u), kept), vec4u(1u));
    let at = P.mask_base / 4u + word;
    if (P.count - first >= 4u) {
      decisions[at] = bytes;
    } else {
      let own = (1u << (8u * (P.count - first))) - 1u;
      decisions[at] = (decisions[at] & ~own) | (bytes & own);
    }
  }`;
  return kernelSpec({
    name: 'attention dropout mask',
    ...invocations(Math.ceil(count / 4)),
    parts: [
      {
        uniforms: u32Uniforms({ Hq, count, mask_base: { offsetOf: dropoutMaskOutput } }),
        bindings: [{ ...words, variable: 'decisions', access: 'read_write' }],
      },
      ...sequencePart(problem, {}),
      ...(dropout ? [dropout] : []),
    ],
    declarations: `fn kept4(at: u32) -> vec4<bool> {
  let j = at % P.Skv;
  let row = at / P.Skv;
  let i = row % P.Sq;
  let seq = sequence_at(row / (P.Sq * P.Hq));
  var kept = vec4<bool>(true);
  ${dropout ? 'kept = dropout_kept4(seq, (row / P.Sq) % P.Hq, i, j);' : ''}
  ${q.starts === 'strided' ? '' : 'kept = kept & vec4<bool>(i < seq.length_q);'}
  ${k.starts === 'strided' ? '' : 'kept = kept & (vec4u(j) + vec4u(0u, 1u, 2u, 3u) < vec4u(seq.length_kv));'}
  return kept;
}`,
    body,
  });
}
