import type { Tensor } from '../../tensor/tensor.ts';
import type { OperandDesc, Operands, RaggedName } from '../problem/problem.ts';
import { required } from './required.ts';
import { type SequenceSide, sequenceStart } from './sequences.ts';

/**
 * The addresses of an operand's rows in its host storage: element (b, h, s, d) is `data[rowOffset(b, h, s) +
 * d · stride]`.
 */
export interface Addressing {
  /** The storage of the operand. */
  readonly data: Tensor['data'];
  /** The index in `data` of channel 0 of row s of sequence b in head h. */
  rowOffset(b: number, h: number, s: number): number;
  /** Elements from one channel to the next. */
  readonly stride: number;
  /** Elements from one row to the next; null if that depends on the page. */
  readonly rowStride: number | null;
}

/** The lists that locate the sequences of one operand, as far as its layout needs them. */
export interface PlacementLists {
  /** Block numbers of a paged operand, (B, pages) or packed (pages). */
  readonly pageTable?: Tensor;
  /** (B + 1): where the pages of each sequence start in a packed table. */
  readonly cuPages?: Tensor;
  /** (B + 1) offsets of a ragged operand, in elements. */
  readonly raggedOffsets?: Tensor;
}

/** The lists that locate an operand, by the operand's name, from the problem's operands. */
export function placementLists(name: RaggedName, operands: Partial<Operands<Tensor>>): PlacementLists {
  const { pageTableK, pageTableV, cuPagesK, cuPagesV } = operands;
  const raggedOffsets = operands[`raggedOffsets.${name}`];
  if (name === 'k') return { pageTable: pageTableK, cuPages: cuPagesK, raggedOffsets };
  if (name === 'v') return { pageTable: pageTableV, cuPages: cuPagesV, raggedOffsets };
  return { raggedOffsets };
}

/** An operand on the host, with the lists that locate its rows. */
export interface HostOperand {
  readonly desc: OperandDesc;
  readonly tensor: Tensor;
  readonly side: SequenceSide;
  readonly lists?: PlacementLists;
}

/** The operand of a problem that has a given name. */
export function hostOperand<N extends RaggedName>(
  name: N,
  desc: OperandDesc,
  operands: Readonly<Record<N, Tensor>> & Partial<Operands<Tensor>>,
  side: SequenceSide,
): HostOperand {
  return { desc, tensor: operands[name], side, lists: placementLists(name, operands) };
}

/**
 * Addresses of an operand in any layout: dense, packed, ragged or paged.
 * @throws InvalidArgumentError if a list that the layout needs is missing.
 */
export function createAddressing(
  desc: OperandDesc,
  operand: Tensor,
  side: SequenceSide,
  { pageTable, cuPages, raggedOffsets }: PlacementLists = {},
): Addressing {
  const { data, offset } = operand;
  const [sb, sh, ss, stride] = desc.strides;
  const { page } = desc;
  if (page === null) {
    const start = sequenceStart(desc, side, raggedOffsets);
    return { data, stride, rowStride: ss, rowOffset: (b, h, s) => offset + start(b) + h * sh + s * ss };
  }
  const { data: blocks, offset: blocksOffset } = required('pageTable', pageTable);
  const [outer, inner] = page.table.strides;
  const isPacked = page.table.shape.length === 1;
  const pageStride = isPacked ? outer : inner;
  const starts = isPacked
    ? required('cuPages', cuPages)
        .toFloat64()
        .map(first => first * pageStride)
    : null;
  const rowOffset = (b: number, h: number, s: number): number => {
    const first = starts ? starts[b] : b * outer;
    const block = blocks[blocksOffset + first + Math.floor(s / page.size) * pageStride];
    return offset + block * sb + h * sh + (s % page.size) * ss;
  };
  return { data, stride, rowStride: null, rowOffset };
}
