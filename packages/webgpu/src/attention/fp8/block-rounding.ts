import type { AttentionProblem, Mxfp8DType } from '@tilewise/core';
import { storageFormat } from '../../codegen/formats/storage-format.ts';
import type { ShaderPart } from '../../codegen/shader-part.ts';
import { repeat } from '../../codegen/text.ts';
import type { LaneGrid, ScoreVectors } from '../tiles/scores/score-vectors.ts';

/** The exponent of the largest power of two in a format. */
const topExponent: Readonly<Record<Mxfp8DType, number>> = { f8e4m3: 8, f8e5m2: 15 };

/**
 * `block_rounded(x, amax)`: rounds x to the MXFP8 format of a dequantised problem and converts it back. Each
 * component of x belongs to a block; the same component of `amax` is the largest magnitude in that block. The
 * scale is core's `blockScaleCode`: a significand above 1.75 carries into the exponent.
 */
export function blockRoundingPart({ fp8 }: AttentionProblem): ShaderPart {
  if (fp8?.kind !== 'dequantised') return {};
  const { dtype } = fp8;
  const { round4, requires } = storageFormat(dtype);
  if (!round4) throw new TypeError(`no block scales with ${dtype}`);
  const top = topExponent[dtype];
  return {
    requires,
    code: `fn block_rounded(x: vec4f, amax: vec4f) -> vec4f {
  let exponent = (bitcast<vec4u>(amax) + vec4u(0x1fffffu)) >> vec4u(23u);
  let code = max(exponent, vec4u(${top + 1}u)) - vec4u(${top}u);
  let scaled = x * bitcast<vec4f>((vec4u(254u) - code) << vec4u(23u));
  return ${round4('scaled')} * bitcast<vec4f>(code << vec4u(23u));
}`,
  };
}

/**
 * Statements that set `ds` of this lane's four vec4s to `raw` (of a query, over keys) rounded in blocks: the
 * default tile's 32 keys of one query, or its 32 queries of one key.
 */
export function roundBlocks({ tx, ty }: LaneGrid, along: 'keys' | 'queries', vectors: ScoreVectors): string {
  const all = (r: number): string => `abs(${vectors.of('raw', r)})`;
  const max4 = (r: number): string => `max(max(${all(r)}.x, ${all(r)}.y), max(${all(r)}.z, ${all(r)}.w))`;
  const [own, first, lane, lanes] =
    along === 'keys'
      ? [`vec4f(${repeat(4, max4, ', ')})`, `ty * ${tx}u`, 'tx', tx]
      : [`max(max(${all(0)}, ${all(1)}), max(${all(2)}, ${all(3)}))`, `tx * ${ty}u`, 'ty', ty];
  return `row_partial[${first} + ${lane}] = ${own};
    workgroupBarrier();
    var amax = vec4f();
    for (var n = 0u; n < ${lanes}u; n++) {
      amax = max(amax, row_partial[${first} + n]);
    }
    ${repeat(4, r => `${vectors.of('ds', r)} = block_rounded(${vectors.of('raw', r)}, ${along === 'keys' ? `vec4f(amax[${r}])` : 'amax'});`)}`;
}
