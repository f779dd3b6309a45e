import { STRIP } from '../vector/vector';

/*
 * The numbers of a pass over small heads: one word each, in the order in which
 * `src/cpu/attention/small-heads/numbers.ts` writes them; panels and addresses are in the order of
 * `forward.ts` and `backward.ts` beside it. Panels are given as bytes from the start of a thread's scratch
 * memory.
 */

/** The addresses of the heads of an operand or a result. */
@unmanaged
export class HeadAddresses {
  /** The address of the first row of the first head. */
  at: usize;
  /** Bytes from one b, head and row to the next. */
  batch: usize;
  head: usize;
  row: usize;

  /** The address of a head, given by its number. */
  @inline of(n: i32, H: i32): usize {
    return this.at + <usize>(n / H) * this.batch + <usize>(n % H) * this.head;
  }
}

/** The numbers that both passes need. */
@unmanaged
export class HeadNumbers {
  scale: f32;
  H: i32;
  Sq: i32;
  Skv: i32;
  Dqk: i32;
  Dv: i32;
  /** The columns of the tile of scores. */
  columns: i32;
  /** The keys that rows may see, as in all kernels. */
  ranges: usize;
  /** The address of lse (B, H, Sq). */
  lse: usize;
  /** Scratch memory: the address for thread 0, and the bytes per thread. */
  scratch: usize;
  scratchBytes: usize;
}

@unmanaged
export class ForwardNumbers extends HeadNumbers {
  keys: usize;
  values: usize;
  scores: usize;
  sums: usize;
  largest: usize;
  sum: usize;
}

@unmanaged
export class BackwardNumbers extends HeadNumbers {
  kColumns: usize;
  vColumns: usize;
  kRows: usize;
  qRows: usize;
  dORows: usize;
  p: usize;
  dS: usize;
  dq: usize;
  dk: usize;
  dv: usize;
  delta: usize;
  dots: usize;
}

/** A number of rows, rounded up to whole strips, which kernels write. */
@inline export function paddedToStrips(rows: i32): usize {
  return <usize>((rows + STRIP - 1) & ~(STRIP - 1));
}

/** Copies `count` contiguous rows of `width` f32, a multiple of 4, to rows that are `ld` bytes apart. */
export function storeRows(count: i32, width: i32, from: usize, to: usize, ld: usize): void {
  const bytes = <usize>width * 4;
  for (let i = 0; i < count; i++) {
    for (let d: usize = 0; d < bytes; d += 16) v128.store(to + d, v128.load(from + d));
    from += bytes;
    to += ld;
  }
}
