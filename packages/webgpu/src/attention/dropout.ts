import type { AttentionProblem } from '@tilewise/core';
import { dropoutPieces, dropoutUniforms } from '@tilewise/philox/wgsl';
import type { ShaderPart } from '../kernel/shader-part.ts';
import { broadcastAddressing } from './score/broadcast.ts';

/**
 * `dropout4(seq, h, i, j) -> vec4f`: the factors of the probabilities of query i and keys j to j + 3, 0 where dropped.
 * Forward and backward draw the same ones. Null when the problem has no dropout.
 */
export function dropoutPart(problem: AttentionProblem): ShaderPart | null {
  const { dropout, Sq, Skv, k } = problem;
  if (!dropout) return null;
  const scale = { name: 'dropout_scale', type: 'f32', value: dropout.scale } as const;
  if (dropout.kind === 'mask') {
    const { uniforms, code } = broadcastAddressing('dropoutMask', dropout.mask);
    return {
      uniforms: [scale, ...uniforms],
      bindings: [{ name: 'dropoutMask', element: 'u32', access: 'read', elementBytes: 1, alignment: 1 }],
      code: `${code}

fn dropout4(seq: Sequence, h: u32, i: u32, j: u32) -> vec4f {
  let first = dropoutMask_at(seq, h, i, j);
  var factor = vec4f();
  for (var c = 0u; c < 4u; c++) {
    let at = first + c * P.dropoutMask_sj;
    let kept = ((dropoutMask[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu) != 0u;
    factor[c] = select(0.0, P.dropout_scale, kept);
  }
  return factor;
}`,
    };
  }
  const { p, scheme } = dropout;
  const { headStride, threshold, keepNone } = dropoutUniforms({
    scheme,
    p,
    seed: 0,
    offset: 0,
    shape: { Sq, Skv },
  });
  const word = (name: string, value: number): { name: string; type: 'u32'; value: number } => ({
    name,
    type: 'u32',
    value,
  });
  return {
    uniforms: [
      scale,
      { name: 'seed_low', type: 'u32', value: { input: 'seedLow' } },
      { name: 'seed_high', type: 'u32', value: { input: 'seedHigh' } },
      { name: 'offset_low', type: 'u32', value: { input: 'offsetLow' } },
      { name: 'offset_high', type: 'u32', value: { input: 'offsetHigh' } },
      word('dropout_head_low', headStride[0]),
      word('dropout_head_high', headStride[1]),
      word('dropout_threshold', threshold),
      word('dropout_none', keepNone),
    ],
    requires: [dropoutPieces[scheme]],
    code: `fn dropout4(seq: Sequence, h: u32, i: u32, j: u32) -> vec4f {
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
  return select(vec4f(), vec4f(P.dropout_scale), dropout_keep4_at(params, row, j));
}`,
  };
}
