import type { AttentionProblem } from '@tilewise/core';
import { dropoutRules } from '@tilewise/philox';
import { dropoutPieces } from '@tilewise/philox/wgsl';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import { broadcastPart, isTrue } from '../layout/broadcast.ts';

/**
 * `dropout_kept4(seq, h, i, j) -> vec4<bool>`: whether the probabilities of query i and keys j to j + 3 are
 * kept, and `dropout4(seq, h, i, j) -> vec4f`: their factors, 0 if dropped. Forward and backward generate the
 * same mask. Null if the problem has no dropout.
 */
export function dropoutPart(problem: AttentionProblem): ShaderPart | null {
  const { dropout, Sq, Skv, k } = problem;
  if (!dropout) return null;
  const scale = { name: 'dropout_scale', type: 'f32', value: dropout.scale } as const;
  const factors = `fn dropout4(seq: Sequence, h: u32, i: u32, j: u32) -> vec4f {
  return select(vec4f(), vec4f(P.dropout_scale), dropout_kept4(seq, h, i, j));
}`;
  if (dropout.kind === 'mask') {
    const code = `fn dropout_kept4(seq: Sequence, h: u32, i: u32, j: u32) -> vec4<bool> {
  let first = dropoutMask_at(seq, h, i, j);
  var kept = vec4<bool>(false);
  for (var c = 0u; c < 4u; c++) {
    let at = first + c * P.dropoutMask_sj;
    kept[c] = ${isTrue('dropoutMask')};
  }
  return kept;
}

${factors}`;
    const part = broadcastPart('dropoutMask', dropout.mask, code);
    return { ...part, uniforms: [scale, ...(part.uniforms ?? [])] };
  }
  const { p, scheme } = dropout;
  const { threshold } = dropoutRules[scheme](p);
  // No 32-bit threshold can mean that everything is dropped.
  const keepsNone = threshold === 2 ** 32;
  const perHead = Sq * Skv;
  return {
    uniforms: [
      scale,
      ...u32Uniforms({ seed_low: { input: 'seedLow' }, seed_high: { input: 'seedHigh' } }),
      ...u32Uniforms({ offset_low: { input: 'offsetLow' }, offset_high: { input: 'offsetHigh' } }),
      ...u32Uniforms({ head_low: perHead % 2 ** 32, head_high: Math.floor(perHead / 2 ** 32) }, 'dropout_'),
      ...u32Uniforms({ threshold: keepsNone ? 0 : threshold, none: Number(keepsNone) }, 'dropout_'),
    ],
    requires: [dropoutPieces[scheme]],
    code: `fn dropout_kept4(seq: Sequence, h: u32, i: u32, j: u32) -> vec4<bool> {
  let params = DropoutParams(
    vec2u(P.seed_low, P.seed_high),
    vec2u(P.offset_low, P.offset_high),
    vec2u(P.dropout_head_low, P.dropout_head_high),
    ${k.starts !== 'strided' && scheme === 'torch-efficient' ? 'seq.length_kv' : 'P.Skv'},
    P.dropout_threshold,
    P.dropout_none,
    P.dropout_scale,
  );
  let row = dropout_row(params, seq.b * P.Hq + h, i);
  return dropout_keep4_at(params, row, j);
}

${factors}`,
  };
}
