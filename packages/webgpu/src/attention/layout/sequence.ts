import type { AttentionProblem, OperandDesc, RaggedName } from '@tilewise/core';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import { joinParts, listElement, listPart } from './list.ts';
import { type Side, sideOf } from './operand.ts';

/** A bound beyond every index, but far enough from the limits of i32 that any index can be added to it. */
const unbounded = 2 ** 30;

/** The operands of a kernel, by name, whose rows are found through its `Sequence`. */
export type KernelOperands = Readonly<Partial<Record<RaggedName, OperandDesc>>>;

const sides = {
  q: { suffix: 'q', extent: 'Sq', lengths: 'seqLensQ', cumulative: 'cuSeqLensQ' },
  kv: { suffix: 'kv', extent: 'Skv', lengths: 'seqLensKv', cumulative: 'cuSeqLensKv' },
} as const;

/** A field of `Sequence`: its declaration, its initial value, and the shader part that the value needs. */
interface SequenceField {
  readonly name: string;
  readonly value: string;
  readonly part: ShaderPart;
}

/**
 * The length of a sequence on one side and, for packed operands, its first token. Lists on the GPU cannot be
 * checked before they are used, so their values are clamped to the tensors: a wrong list gives wrong results,
 * but no endless loop and no access outside a tensor.
 */
function sideFields(
  kind: AttentionProblem['lengthsQ'],
  operands: readonly OperandDesc[],
  { suffix, extent, lengths, cumulative }: (typeof sides)[Side],
): readonly SequenceField[] {
  const packed = operands.filter(({ starts }) => starts === 'cumulative');
  const isCumulative = packed.length > 0 || kind === 'cumulative';
  const tokens = packed.reduce((least, { shape }) => Math.min(least, shape[2]), unbounded);
  const used = [...(isCumulative ? [cumulative] : []), ...(kind === 'lengths' ? [lengths] : [])];
  const lists = joinParts(used.map(name => listPart(name, 'i32')));
  const cut = (n: string): string => `u32(clamp(${listElement(cumulative, n)}, 0, i32(P.tokens_${suffix})))`;
  const span = isCumulative
    ? `min(max(${cut('b + 1u')}, start_${suffix}(b)) - start_${suffix}(b), P.${extent})`
    : `P.${extent}`;
  const length = kind === 'lengths' ? `min(u32(max(${listElement(lengths, 'b')}, 0)), ${span})` : span;
  const start = `fn start_${suffix}(b: u32) -> u32 {
  return ${isCumulative ? cut('b') : '0u'};
}

`;
  const part: ShaderPart = {
    bindings: lists.bindings,
    uniforms: [
      ...lists.uniforms,
      ...(isCumulative ? [{ name: `tokens_${suffix}`, type: 'u32', value: tokens } as const] : []),
    ],
    code: `${isCumulative ? start : ''}fn length_${suffix}(b: u32) -> u32 {
  return ${length};
}`,
  };
  return [
    { name: `length_${suffix}`, value: `length_${suffix}(b)`, part },
    ...(packed.length > 0 ? [{ name: `start_${suffix}`, value: `start_${suffix}(b)`, part: {} }] : []),
  ];
}

/**
 * The offset of a sequence in a ragged operand, in elements, clamped so that its last token is within the
 * tensor.
 */
function raggedField(name: RaggedName, { shape, strides }: OperandDesc): SequenceField {
  const list = `ragged_${name}`;
  const { bindings, uniforms } = joinParts([listPart(`raggedOffsets.${name}`, 'i32', list)]);
  return {
    name: `origin_${name}`,
    value: `min(u32(max(${listElement(list, 'b')}, 0)), P.${name}_last)`,
    part: {
      bindings,
      uniforms: [...uniforms, ...u32Uniforms({ [`${name}_last`]: Math.max(shape[2] - 1, 0) * strides[2] })],
    },
  };
}

/**
 * `struct Sequence` with everything that depends only on the batch entry, and the ranges of tiles within its
 * lengths and the diagonal band: work outside these ranges is skipped, and tiles that are completely inside
 * need no test per score.
 *
 * - `sequence_at(b)`; query i is aligned with key i + `diagonal`.
 * - `key_range(seq, i0, i1) -> vec2u`: the keys [x, y) that some query in [i0, i1) may see.
 * - `tile_inside(seq, i0, i1, j0, j1) -> bool`: whether lengths and band let every query in [i0, i1) see
 *   every key in [j0, j1).
 * - `in_range4(seq, i, j) -> vec4<bool>`: which of the keys j to j + 3 query i may see.
 *   The difference `j - first` may wrap.
 */
export function sequencePart(problem: AttentionProblem, operands: KernelOperands): readonly ShaderPart[] {
  const { band, Sq, Skv, Dqk, Dv, lengthsQ, lengthsKv, q } = problem;
  const named = Object.entries(operands) as [RaggedName, OperandDesc][];
  const on = (side: Side): OperandDesc[] =>
    named.filter(([name]) => sideOf(name) === side).map(([, desc]) => desc);
  const fields = [
    // The rows of lse and similar tensors have the layout of q's rows.
    ...sideFields(lengthsQ, [q, ...on('q')], sides.q),
    ...sideFields(lengthsKv, on('kv'), sides.kv),
    ...named.filter(([, { starts }]) => starts === 'ragged').map(([name, desc]) => raggedField(name, desc)),
  ];
  return [
    {
      uniforms: [
        ...u32Uniforms({ Sq, Skv, Dqk, Dv }),
        { name: 'band_left', type: 'i32', value: Math.min(band?.left ?? unbounded, unbounded) },
        { name: 'band_right', type: 'i32', value: Math.min(band?.right ?? unbounded, unbounded) },
        { name: 'bottom_right', type: 'i32', value: band?.align === 'bottom-right' ? 1 : 0 },
      ],
    },
    ...fields.map(({ part }) => part),
    {
      code: `struct Sequence {
  b: u32,
  diagonal: i32,
${fields.map(({ name }) => `  ${name}: u32,`).join('\n')}
}

fn sequence_at(b: u32) -> Sequence {
  return Sequence(
    b,
    P.bottom_right * (i32(length_kv(b)) - i32(length_q(b))),
${fields.map(({ value }) => `    ${value},`).join('\n')}
  );
}

fn key_range(seq: Sequence, i0: u32, i1: u32) -> vec2u {
  let last = min(i1, seq.length_q);
  if (i0 >= last) {
    return vec2u(0u);
  }
  let low = i32(i0) + seq.diagonal - P.band_left;
  let high = i32(last) + seq.diagonal + P.band_right;
  return vec2u(u32(max(low, 0)), u32(clamp(high, 0, i32(seq.length_kv))));
}

fn tile_inside(seq: Sequence, i0: u32, i1: u32, j0: u32, j1: u32) -> bool {
  return i1 <= seq.length_q && j1 <= seq.length_kv
    && i32(j0) >= i32(i1) - 1 + seq.diagonal - P.band_left
    && i32(j1) - 1 <= i32(i0) + seq.diagonal + P.band_right;
}

fn in_range4(seq: Sequence, i: u32, j: u32) -> vec4<bool> {
  let centre = i32(i) + seq.diagonal;
  let first = centre - P.band_left;
  let count = min(centre + P.band_right + 1, i32(seq.length_kv)) - first;
  let visible = select(0, max(count, 0), i < seq.length_q);
  return vec4u(j - u32(first)) + vec4u(0, 1, 2, 3) < vec4u(u32(visible));
}`,
    },
  ];
}

/** `query_range(seq, j0, j1) -> vec2u`: the queries [x, y) that may see some key in [j0, j1). */
export const queryRangePart: ShaderPart = {
  code: `fn query_range(seq: Sequence, j0: u32, j1: u32) -> vec2u {
  let last = min(j1, seq.length_kv);
  if (j0 >= last) {
    return vec2u(0u);
  }
  let low = i32(j0) - seq.diagonal - P.band_right;
  let high = i32(last) - seq.diagonal + P.band_left;
  return vec2u(u32(max(low, 0)), u32(clamp(high, 0, i32(seq.length_q))));
}`,
};
