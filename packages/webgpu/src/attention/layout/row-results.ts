import type { AttentionProblem } from '@tilewise/core';
import type { ShaderPart } from '../../codegen/shader-part.ts';

/**
 * `row_at(seq, h, i) -> u32`: element of an lse-like tensor, contiguous (Hq, T) where q is packed, else (B, Hq, Sq); and
 * `row_count(seq)`: how many rows the sequence has there, padding included.
 */
export function rowAddressing({ q, Hq, Sq }: Pick<AttentionProblem, 'q' | 'Hq' | 'Sq'>): ShaderPart {
  const packed = q.starts === 'cumulative';
  return {
    uniforms: [
      { name: 'Hq', type: 'u32', value: Hq },
      { name: 'row_stride_h', type: 'u32', value: packed ? q.shape[2] : Sq },
    ],
    code: `fn row_at(seq: Sequence, h: u32, i: u32) -> u32 {
  return ${packed ? 'h * P.row_stride_h + seq.start_q + i' : '(seq.b * P.Hq + h) * P.row_stride_h + i'};
}

fn row_count(seq: Sequence) -> u32 {
  return ${packed ? 'seq.length_q' : 'P.Sq'};
}`,
  };
}

/** A contiguous f32 tensor with one number per row, bound as `element`. */
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

/** Least finite f32: the maximum of no scores. Not −Infinity, as WGSL arithmetic may assume that there are none. */
export const lowest = '-0x1.fffffep+127f';

/** Results that forward gives with one number per row. */
export type RowOutput = 'lse' | 'max' | 'sumExp';

/** Those of a problem. */
export function rowOutputsOf({ outputs: { max, sumExp } }: AttentionProblem): readonly RowOutput[] {
  return ['lse', ...(max ? (['max'] as const) : []), ...(sumExp ? (['sumExp'] as const) : [])];
}

/**
 * Statements that write the results of row `at` with maximum `m` and sum `l`; a row without keys, whose l is 0, has
 * lse = max = −Infinity and sumExp = 0.
 */
export function writeRow(outputs: readonly RowOutput[], m: string, l: string): string {
  const bits: Readonly<Record<RowOutput, string>> = {
    lse: `select(bitcast<u32>(${m} + log(${l})), 0xff800000u, ${l} == 0.0)`,
    max: `select(bitcast<u32>(${m}), 0xff800000u, ${l} == 0.0)`,
    sumExp: `bitcast<u32>(${l})`,
  };
  return outputs.map(name => `${name}_write(at, ${bits[name]});`).join('\n      ');
}

/** `NAME_write(at, bits)`: one row's result, given as bits because −Infinity is among them. */
export function rowOutput(name: RowOutput): ShaderPart {
  const variable = `${name}_rows`;
  return {
    bindings: [{ name, variable, element: 'u32', access: 'read_write', elementBytes: 4, alignment: 4 }],
    uniforms: [{ name: `${name}_base`, type: 'u32', value: { offsetOf: name } }],
    code: `fn ${name}_write(at: u32, bits: u32) {
  ${variable}[P.${name}_base + at] = bits;
}`,
  };
}
