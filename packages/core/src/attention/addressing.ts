import type { Tensor } from '../tensor/tensor.ts';
import type { SequenceSide } from './lengths.ts';
import type { OperandDesc } from './problem.ts';
import { required } from './required.ts';

/** Where the rows of an operand lie in its host storage: element (b, h, s, d) is `data[rowOffset(b, h, s) + d · stride]`. */
export interface Addressing {
  readonly data: Tensor['data'];
  rowOffset(b: number, h: number, s: number): number;
  readonly stride: number;
}

/**
 * Addresses of an operand in any layout: dense, packed (sequence b starts at `side.start(b)`) or paged.
 * @param pageTable the (B, pages) block numbers; needed when `desc.page` is set.
 * @throws InvalidArgumentError when a paged operand has no table.
 */
export function createAddressing(
  desc: OperandDesc,
  operand: Tensor,
  side: SequenceSide,
  pageTable?: Tensor,
): Addressing {
  const { data, offset } = operand;
  const [sb, sh, ss, stride] = desc.strides;
  const { page } = desc;
  if (page === null) {
    return { data, stride, rowOffset: (b, h, s) => offset + b * sb + h * sh + (side.start(b) + s) * ss };
  }
  const [sequenceStride, pageStride] = page.table.strides;
  const { data: blocks, offset: blocksOffset } = required('pageTable', pageTable);
  const rowOffset = (b: number, h: number, s: number): number => {
    const block = blocks[blocksOffset + b * sequenceStride + Math.floor(s / page.size) * pageStride];
    return offset + block * sb + h * sh + (s % page.size) * ss;
  };
  return { data, stride, rowOffset };
}
