import type { RaggedName, RaggedOffsets, Tensor } from '@tilewise/core';
import type { Concrete } from '../concrete/concrete.ts';
import { extent } from '../concrete/layouts.ts';
import type { StrideName } from '../format/case-format.ts';
import { cumulative } from './storage.ts';

/** The tensor of q, k, v and o whose layout each tensor has. */
const laidOutLike: Readonly<Record<RaggedName, StrideName>> = {
  ...{ q: 'q', k: 'k', v: 'v', o: 'o' },
  ...{ dq: 'q', dk: 'k', dv: 'v', dO: 'o' },
};

/**
 * Whether packed tensors give the starts of their sequences as ragged offsets. If all tensors are packed,
 * cumulative lengths say the same for all of them in fewer lists; if only q and o are packed, each has its
 * own offsets, as in cuDNN.
 */
export function isRagged({ flags }: Concrete): boolean {
  return flags.ragged === 'q,o' && !flags.cu_seq_len && !flags.cu_seq_len_q;
}

/**
 * The ragged offsets of the packed tensors among the given ones, in elements, as cuDNN counts them.
 * @param contiguous the tensors have no gaps, whatever the case's layout: an engine on the host allocates its
 * results without gaps.
 */
export function raggedOffsets(
  c: Concrete,
  names: readonly RaggedName[],
  { contiguous = false }: { readonly contiguous?: boolean } = {},
): RaggedOffsets<Tensor, RaggedName> {
  if (!isRagged(c)) return {};
  const offsets: { [N in RaggedName]?: readonly number[] } = {};
  for (const name of names) {
    const like = laidOutLike[name];
    const layout = c.layouts[like];
    const paged = (like === 'k' || like === 'v') && c.layouts.pageSize !== null;
    if (!layout.packed || paged) continue;
    const [H, S, D] = extent(like, c.dims);
    const lengths =
      (like === 'q' || like === 'o' ? c.lengths.q : c.lengths.kv) ?? new Array(c.dims.B).fill(S);
    const token = contiguous ? H * D : layout.strides[2];
    offsets[name] = cumulative(lengths).map(n => n * token);
  }
  return offsets;
}
