import { type StridedData, strided } from '../data/strided-data.ts';
import type { Draft } from '../draft.ts';

/**
 * k or v in pages of `size` positions, in any order and some of them shared; adds the page table to the
 * options.
 */
export function pagedOperand(draft: Draft, name: 'k' | 'v', size: number): StridedData {
  const { random, B, Skv, lengthsKv, garbage, options, dtype } = draft;
  const [H, D] = name === 'k' ? [draft.Hk, draft.Dqk] : [draft.Hv, draft.Dv];
  const pages = Math.ceil(Skv / size) + random.integer(0, 2);
  const blocks = Math.max(1, B * pages);
  // The number of positions that some sequence sees in each block.
  const used = new Array<number>(blocks).fill(0);
  const entry = (b: number, n: number): number => {
    const needed = Math.min(size, lengthsKv[b] - n * size);
    // Entries that no key needs may have any value.
    if (needed <= 0) return random.pick([-1, 0, 2 ** 30]);
    const block = random.integer(0, blocks - 1);
    used[block] = Math.max(used[block], needed);
    return block;
  };
  const side = name === 'k' ? 'K' : 'V';
  if (draft.packedPages) {
    const counts = lengthsKv.map(length => Math.ceil(length / size) + random.integer(0, 1));
    const entries = counts.flatMap((count, b) => Array.from({ length: count }, (_, n) => entry(b, n)));
    const starts = counts.map((_, b) => counts.slice(0, b).reduce((sum, n) => sum + n, 0));
    options[`cuPages${side}`] = [...starts, entries.length];
    // The table has one extra entry at the end, so that it is never empty.
    options[`pageTable${side}`] = strided([entries.length + 1], { dtype: 'i32' }, ([n]) => entries[n] ?? -1);
  } else {
    options[`pageTable${side}`] = strided([B, pages], { dtype: 'i32' }, ([b, n]) => entry(b, n));
  }
  // A dense k or v already says how many positions there are.
  if (draft.pageSize.k && draft.pageSize.v) options.maxSeqLenKv = Skv;
  return strided([blocks, H, size, D], { dtype: dtype[name], gaps: garbage }, ([block, , s]) =>
    s < used[block] ? random.normal() : garbage,
  );
}
