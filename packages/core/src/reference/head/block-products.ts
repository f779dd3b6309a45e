import { required } from '../../attention/host/required.ts';
import type { createLengths, SequenceSide } from '../../attention/host/sequences.ts';
import { describeDense } from '../../attention/problem/describe.ts';
import type { Mxfp8RoundedName } from '../../attention/problem/mxfp8.ts';
import type { AttentionProblem, Operands } from '../../attention/problem/problem.ts';
import { roundToBlocks } from '../../mxfp8/quantise.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Head } from './head.ts';
import { type HeadReader, headReader } from './read.ts';

/**
 * The rows of one head that backward multiplies: q, k and dO rounded for sums over positions, and dO8 for dP.
 */
export interface ProductRows {
  readonly q: Float64Array;
  readonly k: Float64Array;
  readonly dO8: Float64Array;
  readonly dOT: Float64Array;
}

/** The products of backward for operands with block scales, head by head. */
export interface BlockProducts {
  rows(head: Head): ProductRows;
  /** dS (lengthQ × lengthKv) rounded in blocks along keys, for dq, and along queries, for dk. */
  round(
    dS: Float64Array,
    head: Head,
  ): { readonly alongKeys: Float64Array; readonly alongQueries: Float64Array };
}

/** The block products of a dequantised problem; null for a problem that never had block scales. */
export function blockProducts(
  { fp8 }: AttentionProblem,
  { mxfp8 }: Operands<Tensor>,
  lengths: ReturnType<typeof createLengths>,
): BlockProducts | null {
  if (fp8?.kind !== 'dequantised') return null;
  const { dtype } = fp8;
  const reader = (name: Mxfp8RoundedName, side: SequenceSide): HeadReader => {
    const tensor = required(`mxfp8.${name}`, mxfp8?.[name]);
    return headReader({ desc: describeDense(name, tensor), tensor, side });
  };
  const q = reader('qT', lengths.q);
  const k = reader('kT', lengths.kv);
  const dO8 = reader('dO8', lengths.q);
  const dOT = reader('dOT', lengths.q);
  return {
    rows: ({ b, h, hk }) => ({ q: q(b, h), k: k(b, hk), dO8: dO8(b, h), dOT: dOT(b, h) }),
    round(dS, { lengthQ, lengthKv }) {
      const [alongKeys, alongQueries] = [dS.slice(), dS.slice()];
      roundToBlocks(alongKeys, { outer: lengthQ, inner: lengthKv, outerStep: lengthKv, innerStep: 1 }, dtype);
      roundToBlocks(
        alongQueries,
        { outer: lengthKv, inner: lengthQ, outerStep: 1, innerStep: lengthKv },
        dtype,
      );
      return { alongKeys, alongQueries };
    },
  };
}
