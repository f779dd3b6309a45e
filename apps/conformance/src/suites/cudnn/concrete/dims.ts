import type { AttentionProblem } from '@tilewise/core';
import type { CudnnCase, DimName } from '../format/case-format.ts';
import { drawInteger, streamFor } from './draw.ts';

/** The batch size, heads, longest sequences and head sizes of a call. */
export type Dims = Pick<AttentionProblem, 'B' | 'Hq' | 'Hk' | 'Hv' | 'Sq' | 'Skv' | 'Dqk' | 'Dv'>;

/** The sizes that a case about one rule leaves open. */
const usual: Readonly<Record<DimName, number>> = {
  ...{ b: 1, h_q: 2, h_k: 2, h_v: 2, s_q: 64, s_kv: 64, d_qk: 64, d_v: 64 },
};

/** The dimensions of a case: stated, left open, or left to chance. */
export function dimsOf({ dims, flags }: CudnnCase, seed: bigint): Dims {
  const of = (name: DimName, otherwise: number = usual[name]): number => dims[name] ?? otherwise;
  const listed = flags.seq_len_q ?? flags.seq_len_kv;
  const B = of('b', Array.isArray(listed) ? listed.length : usual.b);
  const Hq = of('h_q');
  return {
    B: flags.dynamic_batch ? drawInteger(streamFor(seed, 100), B) : B,
    Hq,
    Hk: of('h_k', Hq),
    Hv: of('h_v', Hq),
    Sq: of('s_q'),
    Skv: of('s_kv'),
    Dqk: of('d_qk'),
    Dv: of('d_v'),
  };
}
