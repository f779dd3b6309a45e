import { Tensor } from '../../src/tensor/tensor.ts';
import {
  type BrokenCall,
  cuSeqLens,
  D,
  dtype,
  f32,
  H,
  i32,
  packed,
  paged,
  pages,
  shape,
  typed,
  value,
} from './call.ts';

/** A tensor that is not on the host: only its description is known. */
const elsewhere = (dtype: Tensor['dtype'], ...shape: number[]): Tensor => {
  const { strides } = f32(...shape);
  return { dtype, shape, strides } as unknown as Tensor;
};

/** Where sequences are and how long they are: lengths, packed, ragged and paged tensors. */
export const sequenceCalls: readonly BrokenCall[] = [
  value('seqLensQ', /32-bit integers, got 0.5 at 0/, { options: { seqLensQ: [0.5, 1] } }),
  value('seqLensQ', /lengths in \[0, 3\], got 4 for sequence 1/, { options: { seqLensQ: [1, 4] } }),
  value('seqLensKv', /lengths in \[0, 3\], got -1 for sequence 0/, { options: { seqLensKv: [-1, 1] } }),
  value('maxSeqLenQ', /these have 3 positions, got 5/, { options: { maxSeqLenQ: 5 } }),
  value('maxSeqLenQ', /integer in \[0, 2147483647\], got -1/, {
    inputs: packed,
    options: { ...cuSeqLens, maxSeqLenQ: -1 },
  }),
  value('maxSeqLenKv', /integer in \[0, 2147483647\], got 2.5/, {
    inputs: packed,
    options: { ...cuSeqLens, maxSeqLenKv: 2.5 },
  }),
  value('maxSeqLenKv', /integer in \[0, 2147483647\], got 2147483648/, {
    inputs: packed,
    options: { ...cuSeqLens, maxSeqLenKv: 2 ** 31 },
  }),
  value('maxSeqLenQ', /when cuSeqLensQ is not on the host/, {
    inputs: packed,
    options: { ...cuSeqLens, cuSeqLensQ: elsewhere('i32', 3) },
  }),
  value('cuSeqLensQ', /start with 0, got 1/, {
    inputs: packed,
    options: { ...cuSeqLens, cuSeqLensQ: [1, 2, 5] },
  }),
  value('cuSeqLensKv', /not decrease, got 3 then 2/, {
    inputs: packed,
    options: { ...cuSeqLens, cuSeqLensKv: [0, 3, 2] },
  }),
  value('cuSeqLensQ', /within the 5 packed tokens of q, got 6/, {
    inputs: packed,
    options: { ...cuSeqLens, cuSeqLensQ: [0, 2, 6] },
  }),
  value('cuSeqLensKv', /sequence of 3, longer than the maximum 2/, {
    inputs: packed,
    options: { ...cuSeqLens, maxSeqLenKv: 2 },
  }),
  shape('cuSeqLensQ', /\[B \+ 1\], got \[\]/, {
    inputs: packed,
    options: { ...cuSeqLens, cuSeqLensQ: Tensor.from([0], [], { dtype: 'i32' }) },
  }),
  ...(['Q', 'Kv'] as const).map(side =>
    value(`seqLens${side}`, /ragged offsets do not say how long/, {
      inputs: side === 'Q' ? { q: f32(6, H, D) } : { k: f32(6, H, D), v: f32(6, H, D) },
      options: { raggedOffsets: side === 'Q' ? { q: [0, 8, 16] } : { k: [0, 8, 16], v: [0, 8, 16] } },
    }),
  ),
  ...(['Q', 'Kv'] as const).map(side =>
    value(`seqLens${side}`, /ragged offsets do not say how long/, {
      inputs: side === 'Q' ? { q: f32(6, H, D) } : { k: f32(6, H, D), v: f32(6, H, D) },
      options: {
        ...{ maxSeqLenQ: side === 'Q' ? 3 : undefined, maxSeqLenKv: side === 'Kv' ? 3 : undefined },
        raggedOffsets: side === 'Q' ? { q: [0, 8, 16] } : { k: [0, 8, 16], v: [0, 8, 16] },
      },
    }),
  ),
  value('raggedOffsets.q', /must not be negative, got -8/, {
    inputs: { q: f32(6, H, D) },
    options: { seqLensQ: [1, 1], raggedOffsets: { q: [-8, 8, 16] } },
  }),
  value('raggedOffsets.q', /not decrease, got 16 then 8/, {
    inputs: { q: f32(6, H, D) },
    options: { seqLensQ: [1, 1], raggedOffsets: { q: [0, 16, 8] } },
  }),
  value('raggedOffsets.q', /room for each sequence within the 48 elements of q/, {
    inputs: { q: f32(6, H, D) },
    options: { seqLensQ: [1, 3], raggedOffsets: { q: [0, 32, 48] } },
  }),
  value('raggedOffsets.o', /keep sequences apart, got 0 then 8/, {
    inputs: { q: f32(6, H, D) },
    options: { seqLensQ: [3, 3], raggedOffsets: { q: [0, 24, 48], o: [0, 8, 48] } },
  }),
  value('raggedOffsets.k', /cannot be combined with a page table/, {
    inputs: paged,
    options: { ...pages, raggedOffsets: { k: [0, 8, 16] } },
  }),
  value('seqLensKv', /given with pageTableK/, {
    inputs: paged,
    options: { pageTableK: pages.pageTableK, pageTableV: pages.pageTableV },
  }),
  value('seqLensKv', /given with pageTableV/, {
    inputs: { v: f32(4, H, 2, D) },
    options: { pageTableV: pages.pageTableV },
  }),
  shape('k', /page size that is a power of two, got 3/, {
    inputs: { k: f32(4, H, 3, D) },
    options: { pageTableK: pages.pageTableK, seqLensKv: [1, 1] },
  }),
  shape('v', /page size that is a power of two, got 3/, {
    inputs: { v: f32(4, H, 3, D) },
    options: { pageTableV: pages.pageTableV, seqLensKv: [1, 1] },
  }),
  ...(['K', 'V'] as const).flatMap(name => [
    shape(`pageTable${name}`, /must have 2 rows/, {
      inputs: paged,
      options: { ...pages, [`pageTable${name}`]: typed('i32', 3, 2) },
    }),
    dtype(`pageTable${name}`, /i32 or u32, got u8/, {
      inputs: paged,
      options: { ...pages, [`pageTable${name}`]: typed('u8', 2, 2) },
    }),
    shape(`pageTable${name}`, /must have rank 2/, {
      inputs: paged,
      options: { ...pages, [`pageTable${name}`]: typed('i32', 2, 2, 1) },
    }),
    value(`pageTable${name}`, /blocks in \[0, 4\).*got 4 for sequence 1, page 0/, {
      inputs: paged,
      options: { ...pages, [`pageTable${name}`]: Tensor.from([0, 9, 4, 9], [2, 2], { dtype: 'i32' }) },
    }),
    value(`cuPages${name}`, /is for a pageTable. of rank 1/, {
      inputs: paged,
      options: { ...pages, [`cuPages${name}`]: [0, 1, 2] },
    }),
  ]),
  value('cuPagesK', /must be given: pageTableK has rank 1/, {
    inputs: paged,
    options: { ...pages, pageTableK: i32(0, 1) },
  }),
  value('cuPagesK', /within the 2 pages of the table, got 3/, {
    inputs: paged,
    options: { ...pages, pageTableK: i32(0, 1), cuPagesK: [0, 1, 3] },
  }),
  value('cuPagesK', /sequence 1 at least 1 pages for its 1 keys, got 0/, {
    inputs: paged,
    options: { ...pages, pageTableK: i32(0, 1), cuPagesK: [0, 2, 2] },
  }),
  value('maxSeqLenKv', /when cuPagesK is not on the host/, {
    inputs: paged,
    options: {
      ...pages,
      pageTableK: i32(0, 1),
      pageTableV: i32(0, 1),
      cuPagesK: elsewhere('i32', 3),
      cuPagesV: [0, 1, 2],
    },
  }),
];
