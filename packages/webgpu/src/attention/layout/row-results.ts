import type { AttentionProblem } from '@tilewise/core';
import { highest, isNaN4 } from '../../codegen/formats/float-bits.ts';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import { namesOf } from '../../codegen/text.ts';

/**
 * `row_at(seq, h, i) -> u32`: the index of an element in a tensor like lse, contiguous (Hq, T) if q is
 * packed, otherwise (B, Hq, Sq); and `row_count(seq)`: the number of rows of the sequence in this tensor,
 * including padding.
 */
export function rowAddressing({ q, Hq, Sq }: Pick<AttentionProblem, 'q' | 'Hq' | 'Sq'>): ShaderPart {
  const packed = q.starts === 'cumulative';
  return {
    uniforms: u32Uniforms({ Hq, row_stride_h: packed ? q.shape[2] : Sq }),
    code: `fn row_at(seq: Sequence, h: u32, i: u32) -> u32 {
  return ${packed ? 'h * P.row_stride_h + seq.start_q + i' : '(seq.b * P.Hq + h) * P.row_stride_h + i'};
}

fn row_count(seq: Sequence) -> u32 {
  return ${packed ? 'seq.length_q' : 'P.Sq'};
}`,
  };
}

/** Results of forward with one number per row. */
export type RowOutput = 'lse' | 'max' | 'sumExp';

/** The row results of a problem. */
export function rowOutputsOf({ outputs: { max, sumExp } }: AttentionProblem): readonly RowOutput[] {
  return namesOf({ lse: true, max, sumExp });
}

/** Statements that write the results of row `at`, which has the maximum `m` and the sum `l`. */
export const writeRow = (outputs: readonly RowOutput[], m: string, l: string): string =>
  outputs.map(name => `${name}_write(at, ${m}, ${l});`).join('\n');

const rowBits: Readonly<Record<RowOutput, string>> = {
  lse: 'softmax_bits(m + log(l), 0xff800000u, m, l)',
  max: 'softmax_bits(m, 0xff800000u, m, l)',
  sumExp: 'softmax_bits(l, 0u, m, l)',
};

/** `NAME_write(at, m, l)`: writes one result of a row. */
export function rowOutput(name: RowOutput): ShaderPart {
  const variable = `${name}_rows`;
  return {
    bindings: [{ name, variable, element: 'u32', access: 'read_write', elementBytes: 4, alignment: 4 }],
    uniforms: u32Uniforms({ [`${name}_base`]: { offsetOf: name } }),
    code: `fn ${name}_write(at: u32, m: f32, l: f32) {
  ${variable}[P.${name}_base + at] = ${rowBits[name]};
}`,
  };
}

/**
 * Code for the end of a row's softmax, from its maximum m and its sum l. A row without keys has l = 0; one
 * with a NaN or +Infinity has the largest finite m.
 *
 * - `softmax_bits(x, no_keys, m, l) -> u32`: the bits of x, `no_keys` for a row without keys, or NaN.
 * - `output_scale(m, l, scale) -> f32`: the factor by which O becomes o; `scale` is that of the sink.
 */
export const softmaxEnd: ShaderPart = {
  code: `fn softmax_bits(x: f32, no_keys: u32, m: f32, l: f32) -> u32 {
  return select(select(bitcast<u32>(x), no_keys, l == 0.0), 0x7fc00000u, m == ${highest});
}

fn output_scale(m: f32, l: f32, scale: f32) -> f32 {
  return bitcast<f32>(softmax_bits(scale / l, 0u, m, l));
}`,
};

/**
 * `probabilities(s, lse, visible) -> vec4f`: P = e^(S − lse), 0 for masked pairs, and NaN in a row whose lse
 * is NaN.
 */
export const probabilitiesPart: ShaderPart = {
  requires: [isNaN4],
  code: `fn probabilities(s: vec4f, lse: f32, visible: vec4<bool>) -> vec4f {
  let row_lse = vec4f(lse);
  return select(vec4f(), select(exp(s - row_lse), row_lse, is_nan(row_lse)), visible);
}`,
};
