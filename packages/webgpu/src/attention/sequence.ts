import type { AttentionProblem } from '@tilewise/core';
import type { ShaderPart, StorageBinding, UniformField } from '../kernel/shader-part.ts';

const lengthsBinding = (name: string): StorageBinding => ({
  name,
  element: 'i32',
  access: 'read',
  elementBytes: 4,
  alignment: 4,
});

const offsetField = (name: string): UniformField => ({
  name: `${name}_base`,
  type: 'u32',
  value: { offsetOf: name },
});

/** A bound that no index reaches, far enough from the limits of i32 to be added to any. */
const unbounded = 2 ** 30;

interface SideNames {
  readonly suffix: string;
  readonly extent: 'Sq' | 'Skv';
  readonly lengths: string;
  readonly cumulative: string;
}

/**
 * Code for the length and first token of a sequence, on one side (`q` or `kv`). Lists on the GPU cannot be checked before they
 * are used, so what they say is held within the tensor: a wrong list gives wrong results, but no endless loop and no write
 * outside a sequence's rows.
 */
function side(
  { packed }: AttentionProblem,
  kind: AttentionProblem['lengthsQ'],
  tokens: number,
  { suffix, extent, lengths, cumulative }: SideNames,
): ShaderPart {
  const used = [...(packed ? [cumulative] : []), ...(kind === 'lengths' ? [lengths] : [])];
  const cut = (n: string): string =>
    `u32(clamp(${cumulative}[P.${cumulative}_base + ${n}], 0, i32(P.tokens_${suffix})))`;
  const start = packed ? cut('b') : '0u';
  const whole = packed
    ? `min(max(${cut('b + 1u')}, start_${suffix}(b)) - start_${suffix}(b), P.${extent})`
    : `P.${extent}`;
  const length = kind === 'lengths' ? `min(u32(max(${lengths}[P.${lengths}_base + b], 0)), ${whole})` : whole;
  return {
    bindings: used.map(lengthsBinding),
    uniforms: [
      ...used.map(offsetField),
      ...(packed ? [{ name: `tokens_${suffix}`, type: 'u32', value: tokens } as const] : []),
    ],
    code: `fn start_${suffix}(b: u32) -> u32 {
  return ${start};
}

fn length_${suffix}(b: u32) -> u32 {
  return ${length};
}`,
  };
}

/**
 * `struct Sequence` with all that depends on the batch entry alone, and the ranges of tiles that its lengths and the
 * diagonal band leave: work outside them is skipped, and tiles wholly inside need no test per score.
 */
export function sequencePart(problem: AttentionProblem): readonly ShaderPart[] {
  const { band, Sq, Skv, Dqk, Dv, lengthsQ, lengthsKv, packed } = problem;
  const sideQ = side(problem, lengthsQ, problem.q.shape[2], {
    suffix: 'q',
    extent: 'Sq',
    lengths: 'seqLensQ',
    cumulative: 'cuSeqLensQ',
  });
  const sideKv = side(problem, lengthsKv, problem.k.shape[2], {
    suffix: 'kv',
    extent: 'Skv',
    lengths: 'seqLensKv',
    cumulative: 'cuSeqLensKv',
  });
  return [
    {
      uniforms: [
        { name: 'Sq', type: 'u32', value: Sq },
        { name: 'Skv', type: 'u32', value: Skv },
        { name: 'Dqk', type: 'u32', value: Dqk },
        { name: 'Dv', type: 'u32', value: Dv },
        { name: 'band_left', type: 'i32', value: Math.min(band?.left ?? unbounded, unbounded) },
        { name: 'band_right', type: 'i32', value: Math.min(band?.right ?? unbounded, unbounded) },
        { name: 'bottom_right', type: 'i32', value: band?.align === 'bottom-right' ? 1 : 0 },
      ],
    },
    sideQ,
    sideKv,
    {
      code: `struct Sequence {
  b: u32,
  length_q: u32,
  length_kv: u32,
  start_q: u32,
  start_kv: u32,
  // Rows of the tensor that belong to this sequence, padding included.
  rows_q: u32,
  rows_kv: u32,
  // Query i stands on key i + diagonal.
  diagonal: i32,
}

fn sequence_at(b: u32) -> Sequence {
  let length_q = length_q(b);
  let length_kv = length_kv(b);
  return Sequence(
    b, length_q, length_kv, start_q(b), start_kv(b),
    ${packed ? 'length_q, length_kv' : 'P.Sq, P.Skv'},
    P.bottom_right * (i32(length_kv) - i32(length_q)),
  );
}

// Keys [x, y) that some query in [i0, i1) may see.
fn key_range(seq: Sequence, i0: u32, i1: u32) -> vec2u {
  let last = min(i1, seq.length_q);
  if (i0 >= last) {
    return vec2u(0u);
  }
  let low = i32(i0) + seq.diagonal - P.band_left;
  let high = i32(last) + seq.diagonal + P.band_right;
  return vec2u(u32(max(low, 0)), u32(clamp(high, 0, i32(seq.length_kv))));
}

// Queries [x, y) that may see some key in [j0, j1).
fn query_range(seq: Sequence, j0: u32, j1: u32) -> vec2u {
  let last = min(j1, seq.length_kv);
  if (j0 >= last) {
    return vec2u(0u);
  }
  let low = i32(j0) - seq.diagonal - P.band_right;
  let high = i32(last) - seq.diagonal + P.band_left;
  return vec2u(u32(max(low, 0)), u32(clamp(high, 0, i32(seq.length_q))));
}

// Whether lengths and band let every query in [i0, i1) see every key in [j0, j1).
fn tile_inside(seq: Sequence, i0: u32, i1: u32, j0: u32, j1: u32) -> bool {
  return i1 <= seq.length_q && j1 <= seq.length_kv
    && i32(j0) >= i32(i1) - 1 + seq.diagonal - P.band_left
    && i32(j1) - 1 <= i32(i0) + seq.diagonal + P.band_right;
}

// The same for query i and the keys j to j + 3.
fn inside4(seq: Sequence, i: u32, j: u32) -> vec4<bool> {
  let keys = vec4i(i32(j)) + vec4i(0, 1, 2, 3);
  let centre = i32(i) + seq.diagonal;
  return vec4<bool>(i < seq.length_q)
    & (keys < vec4i(i32(seq.length_kv)))
    & (keys >= vec4i(centre - P.band_left))
    & (keys <= vec4i(centre + P.band_right));
}`,
    },
  ];
}
