import type { AttentionProblem } from '@tilewise/core';
import type { UniformField } from '../kernel/shader-part.ts';
import type { TileOperand } from './tile.ts';

type Head = Pick<TileOperand, 'channels' | 'D'>;

const heads = ({ Dqk, Dv }: AttentionProblem): { readonly qk: Head; readonly v: Head } => ({
  qk: { channels: 'P.Dqk', D: Dqk },
  v: { channels: 'P.Dv', D: Dv },
});

/**
 * The rows that tiles are computed from: queries from i0 and keys from j0, of query head h, up to the lengths of the sequence.
 * What lies beyond is padding and never read.
 */
export function tileOperands(
  problem: AttentionProblem,
): Readonly<Record<'q' | 'k' | 'v' | 'dO', TileOperand>> {
  const { qk, v } = heads(problem);
  const queries = { head: 'h', first: 'i0', end: 'seq.length_q' };
  const keys = { first: 'j0', end: 'seq.length_kv' };
  return {
    q: { name: 'q', ...queries, ...qk },
    k: { name: 'k', head: 'h / P.group_k', ...keys, ...qk },
    v: { name: 'v', head: 'h / P.group_v', ...keys, ...v },
    dO: { name: 'dO', ...queries, ...v },
  };
}

/** The rows that results are stored to, padding included: it becomes 0. Those of dk and dv are of key head `head`. */
export function tileResults(
  problem: AttentionProblem,
): Readonly<Record<'o' | 'dq' | 'dk' | 'dv', TileOperand>> {
  const { qk, v } = heads(problem);
  const queries = { head: 'h', first: 'i0', end: 'seq.rows_q' };
  const keys = { head: 'head', first: 'j0', end: 'seq.rows_kv' };
  return {
    o: { name: 'o', ...queries, ...v },
    dq: { name: 'dq', ...queries, ...qk },
    dk: { name: 'dk', ...keys, ...qk },
    dv: { name: 'dv', ...keys, ...v },
  };
}

/** `group_k` and `group_v`: how many query heads share a key head and a value head. */
export function headGroups({ Hq, Hk, Hv }: AttentionProblem): UniformField[] {
  return [
    { name: 'group_k', type: 'u32', value: Hq / Hk },
    { name: 'group_v', type: 'u32', value: Hq / Hv },
  ];
}
