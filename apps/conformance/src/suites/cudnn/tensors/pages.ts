import { maxOffset, Tensor } from '@tilewise/core';
import type { Concrete } from '../concrete/concrete.ts';
import { extent } from '../concrete/layouts.ts';
import { MARGIN, poisoned } from './canary.ts';
import { cumulative } from './storage.ts';

/** Keys or values in the pages of a container, with NaN where there is no key, and the page table. */
export interface PagedOperand {
  /** (blocks, H, pageSize, D); its storage follows the order of the case's strides. */
  readonly container: Tensor;
  /**
   * i32 (B, pages): page j of sequence b is block j·B + b, so that no sequence is contiguous. A packed table
   * holds only the pages that have keys, sequence after sequence.
   */
  readonly table: Tensor;
  /** The starts of each sequence's pages in a packed table. */
  readonly cuPages: readonly number[] | null;
}

/** Puts a contiguous (B, H, S, D) tensor into pages. */
export function toPages(c: Concrete, name: 'k' | 'v', pageSize: number, dense: Tensor): PagedOperand {
  const { B } = c.dims;
  const [H, S, D] = extent(name, c.dims);
  const pages = Math.ceil(S / pageSize);
  const shape = [B * pages, H, pageSize, D];
  const [, headStride, positionStride] = c.layouts[name].strides;
  const headsOutside = headStride > positionStride;
  const strides = headsOutside ? [H * pageSize * D, pageSize * D, D, 1] : [H * pageSize * D, D, H * D, 1];
  const data = poisoned(c.dtype, MARGIN + maxOffset(shape, strides) + 1 + MARGIN);
  const blocks: number[] = [];
  const used: number[] = [];
  for (let b = 0; b < B; b++) {
    const length = c.lengths.kv?.[b] ?? S;
    used.push(Math.ceil(length / pageSize));
    for (let page = 0; page < pages; page++) {
      const block = page * B + b;
      if (!c.layouts.packedTable || page * pageSize < length) blocks.push(block);
      for (let h = 0; h < H; h++) {
        for (let s = page * pageSize; s < Math.min(length, (page + 1) * pageSize); s++) {
          const from = ((b * H + h) * S + s) * D;
          const to = MARGIN + block * strides[0] + h * strides[1] + (s % pageSize) * strides[2];
          for (let d = 0; d < D; d++) data[to + d] = dense.data[from + d];
        }
      }
    }
  }
  return {
    container: Tensor.wrap(data, { dtype: c.dtype, shape, strides, offset: MARGIN }),
    table: Tensor.from(blocks, c.layouts.packedTable ? [blocks.length] : [B, pages], { dtype: 'i32' }),
    cuPages: c.layouts.packedTable ? cumulative(used) : null,
  };
}
