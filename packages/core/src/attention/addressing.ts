import type { Tensor } from '../tensor/tensor.ts';
import type { SequenceSide } from './lengths.ts';
import type { OperandDesc, Operands } from './problem.ts';
import { required } from './required.ts';

/** Where the rows of an operand lie in its host storage: element (b, h, s, d) is `data[rowOffset(b, h, s) + d · stride]`. */
export interface Addressing {
  readonly data: Tensor['data'];
  rowOffset(b: number, h: number, s: number): number;
  readonly stride: number;
}

/** What says where the pages of a paged operand are; without it the operand is not paged. */
export interface PageLists {
  /** Block numbers, (B, pages) or packed (pages). */
  readonly table?: Tensor;
  /** (B + 1): where the pages of each sequence start in a packed table. */
  readonly cuPages?: Tensor;
}

/** The page lists of k and of v. */
export function pageLists(operands: Partial<Operands<Tensor>>): {
  readonly k: PageLists;
  readonly v: PageLists;
} {
  const { pageTableK, pageTableV, cuPagesK, cuPagesV } = operands;
  return { k: { table: pageTableK, cuPages: cuPagesK }, v: { table: pageTableV, cuPages: cuPagesV } };
}

/**
 * Addresses of an operand in any layout: dense, packed (sequence b starts at `side.start(b)`) or paged.
 * @param pages needed when `desc.page` is set.
 * @throws InvalidArgumentError when a paged operand has no table, or a packed table no `cuPages`.
 */
export function createAddressing(
  desc: OperandDesc,
  operand: Tensor,
  side: SequenceSide,
  pages: PageLists = {},
): Addressing {
  const { data, offset } = operand;
  const [sb, sh, ss, stride] = desc.strides;
  const { page } = desc;
  if (page === null) {
    return { data, stride, rowOffset: (b, h, s) => offset + b * sb + h * sh + (side.start(b) + s) * ss };
  }
  const { data: blocks, offset: blocksOffset } = required('pageTable', pages.table);
  const [outer, inner] = page.table.strides;
  const isPacked = page.table.shape.length === 1;
  const pageStride = isPacked ? outer : inner;
  const starts = isPacked
    ? required('cuPages', pages.cuPages)
        .toFloat64()
        .map(first => first * pageStride)
    : null;
  const rowOffset = (b: number, h: number, s: number): number => {
    const first = starts ? starts[b] : b * outer;
    const block = blocks[blocksOffset + first + Math.floor(s / page.size) * pageStride];
    return offset + block * sb + h * sh + (s % page.size) * ss;
  };
  return { data, stride, rowOffset };
}
