import type { CudnnCase } from '../format/case-format.ts';
import type { Dims } from './dims.ts';
import { drawInteger, streamFor } from './draw.ts';
import { isPacked } from './layouts.ts';

/** The number of positions in each sequence; null if every sequence has all positions. */
export interface Lengths {
  readonly q: readonly number[] | null;
  readonly kv: readonly number[] | null;
}

/**
 * The lengths of a case: as listed, or drawn if the case asks for a padding mask or packed sequences without
 * giving lengths.
 * @throws Error if the listed lengths do not fit the batch.
 */
export function drawLengths(c: CudnnCase, dims: Dims, seed: bigint, chunk: number): Lengths {
  const { flags } = c;
  const { B, Sq, Skv } = dims;
  if (flags.kv_len_per_chunk) {
    const keys = flags.kv_len_per_chunk[chunk];
    if (keys === undefined) throw new Error(`kv_len_per_chunk has no length for chunk ${chunk}`);
    return { q: new Array(B).fill(flags.chunk ?? Sq), kv: new Array(B).fill(keys) };
  }
  const stream = streamFor(flags.seed ?? seed, 101);
  const draw = (most: number): number[] => Array.from({ length: B }, () => drawInteger(stream, most));
  const listed = {
    q: listedLengths(c, 'q', B),
    kv: listedLengths(c, 'kv', B),
  };
  const q = flags.seq_len_q === 'ones' ? new Array<number>(B).fill(1) : listed.q;
  const kv = flags.seq_len_kv === 'per-batch' ? draw(Skv) : listed.kv;
  const wanted = flags.padding || flags.seq_len !== undefined || isPacked(c);
  if (!wanted || q || kv) return { q, kv };
  const drawn = { q: draw(Sq), kv: draw(Skv) };
  const short = flags.seq_len !== undefined || flags.left_bound !== undefined || bottomRight(c);
  return short ? { ...drawn, q: drawn.q.map((n, b) => Math.min(n, drawn.kv[b])) } : drawn;
}

function bottomRight({ flags }: CudnnCase): boolean {
  return flags.diagonal_alignment === 'BOTTOM_RIGHT' && flags.right_bound !== undefined;
}

function listedLengths({ flags }: CudnnCase, side: 'q' | 'kv', B: number): readonly number[] | null {
  const cumulative = flags[`cu_seq_len_${side}`];
  const name = cumulative ? `cu_seq_len_${side}` : `seq_len_${side}`;
  const listed = cumulative
    ? cumulative.slice(1).map((end, b) => end - cumulative[b])
    : flags[`seq_len_${side}`];
  if (!Array.isArray(listed)) return null;
  // A graph for any batch keeps the list of lengths of the batch that it was built for.
  if (listed.length < B || (listed.length > B && !flags.dynamic_shape)) {
    throw new Error(`${name} has ${listed.length} lengths for a batch of ${B}`);
  }
  return listed.slice(0, B);
}
