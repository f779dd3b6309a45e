import type { AttentionProblem, OperandDesc } from '@tilewise/core';
import { type UniformField, u32Uniforms } from '../../codegen/shader-part.ts';
import { sideOf } from '../layout/operand.ts';
import type { ScoreGemm, TileOperand } from './interface/tile-gemms.ts';
import type { Stationary } from './tile.ts';

type Head = Pick<TileOperand, 'channels' | 'D'>;

const heads = ({ Dqk, Dv }: AttentionProblem): { readonly qk: Head; readonly v: Head } => ({
  qk: { channels: 'P.Dqk', D: Dqk },
  v: { channels: 'P.Dv', D: Dv },
});

const rowsOf = (name: string, head: string): Pick<TileOperand, 'name' | 'row'> => ({
  name,
  row: s => `${name}_row(seq, ${head}, ${s})`,
});

/**
 * The rows from which tiles are computed: queries from i0 and keys from j0, of query head h and the heads of
 * `keyHeads`, up to the lengths of the sequence. Rows beyond the lengths are padding and never read.
 * @param suffix appended to the name of each operand, as in `qT`.
 */
export function tileOperands(
  problem: AttentionProblem,
  suffix = '',
): Readonly<Record<'q' | 'k' | 'v' | 'dO', TileOperand>> {
  const { qk, v } = heads(problem);
  const queries = { first: 'i0', end: 'seq.length_q' };
  const keys = { first: 'j0', end: 'seq.length_kv' };
  return {
    q: { ...rowsOf(`q${suffix}`, 'h'), ...queries, ...qk },
    k: { ...rowsOf(`k${suffix}`, 'h_k'), ...keys, ...qk },
    v: { ...rowsOf(`v${suffix}`, 'h_v'), ...keys, ...v },
    dO: { ...rowsOf(`dO${suffix}`, 'h'), ...queries, ...v },
  };
}

/**
 * The rows that a result is stored to: for a dense result all rows, where padding becomes 0; otherwise the
 * rows that belong to the sequence. The rows of dk and dv are those of key head `head`.
 */
export function tileResult(
  name: 'o' | 'dq' | 'dk' | 'dv',
  problem: AttentionProblem,
  { starts }: OperandDesc,
): TileOperand {
  const { qk, v } = heads(problem);
  const side = sideOf(name);
  const dense = { q: 'P.Sq', kv: 'P.Skv' } as const;
  return {
    ...rowsOf(name, side === 'q' ? 'h' : 'head'),
    first: side === 'q' ? 'i0' : 'j0',
    end: starts === 'strided' ? dense[side] : `seq.length_${side}`,
    ...(name === 'o' || name === 'dv' ? v : qk),
  };
}

/**
 * Statements that follow the declaration of `h` and declare its key head and its value head. They contain
 * divisions, which loops over tiles need not repeat.
 */
export const keyHeads = `let h_k = h / P.group_k;
  let h_v = h / P.group_v;`;

/** `group_k` and `group_v`: the number of query heads that share a key head and a value head. */
export function headGroups({ Hq, Hk, Hv }: AttentionProblem): UniformField[] {
  return u32Uniforms({ group_k: Hq / Hk, group_v: Hq / Hv });
}

/**
 * The two operands of a product: the one whose rows lanes or subgroups hold, and the one whose rows they
 * stream.
 */
export const sidesOf = (
  { stationary }: { readonly stationary: Stationary },
  { a, b }: ScoreGemm,
): { readonly held: TileOperand; readonly streamed: TileOperand } =>
  stationary === 'queries' ? { held: a, streamed: b } : { held: b, streamed: a };

/** The operands whose rows are streamed, by products or to be added. */
export function streamedOperands(
  tile: { readonly stationary: Stationary },
  gemms: readonly ScoreGemm[],
  summed: readonly TileOperand[],
): readonly TileOperand[] {
  const operands = [...gemms.map(gemm => sidesOf(tile, gemm).streamed), ...summed];
  return [...new Map(operands.map(operand => [operand.name, operand])).values()];
}
