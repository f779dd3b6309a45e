import { checkOptions, InvalidArgumentError, TilewiseError } from '../../errors.ts';
import { allocateBy } from '../../tensor/allocate.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { checkMod } from '../check.ts';
import { compileRows, type EvaluateRow } from '../evaluate/rows.ts';
import { usesVariable } from '../nodes/walk.ts';
import { type BlockSize, checkCounts, sizesOf } from './block-sizes.ts';
import type { Mod } from './mod.ts';

/** The extents that a block mask covers, and its block size. */
export interface BlockMaskOptions {
  /** null (default): the mask is the same for all sequences, and the result has B = 1. */
  readonly B?: number | null | undefined;
  /** Query heads; null (default): the same for all, and the result has one. */
  readonly Hq?: number | null | undefined;
  /** The number of queries. */
  readonly Sq: number;
  /** The number of keys. */
  readonly Skv: number;
  /** Queries and keys per block; one number is for both. Default 128. */
  readonly blockSize?: number | BlockSize | undefined;
}

/**
 * Which blocks of the score matrix a mask mod shows, in the form of PyTorch's `BlockMask`
 * (`torch.nn.attention.flex_attention`). All tensors are i32. With nQ query blocks and nKv key blocks, there
 * are counts (B, Hq, nQ) and indices (B, Hq, nQ, nKv): the first `count` indices are the key blocks that a
 * query block sees, ascending; the other blocks follow, ascending. In `full` blocks every pair is visible, so
 * the mask mod need not be evaluated; the other listed blocks are partly visible. `q…` has the same for each
 * key block, (B, Hq, nKv) and (B, Hq, nKv, nQ).
 */
export interface BlockMask {
  /** The number of queries. */
  readonly Sq: number;
  /** The number of keys. */
  readonly Skv: number;
  /** The numbers of queries and of keys in a block. */
  readonly blockSize: BlockSize;
  /** The number of partly visible key blocks of each query block. */
  readonly kvNumBlocks: Tensor;
  /** The partly visible key blocks of each query block, and then its other key blocks. */
  readonly kvIndices: Tensor;
  /** The number of key blocks that each query block sees as a whole. */
  readonly fullKvNumBlocks: Tensor;
  /** The key blocks that each query block sees as a whole, and then its other key blocks. */
  readonly fullKvIndices: Tensor;
  /** The number of query blocks that see a part of each key block. */
  readonly qNumBlocks: Tensor;
  /** The query blocks that see a part of each key block, and then the other query blocks. */
  readonly qIndices: Tensor;
  /** The number of query blocks that see all of each key block. */
  readonly fullQNumBlocks: Tensor;
  /** The query blocks that see all of each key block, and then the other query blocks. */
  readonly fullQIndices: Tensor;
  /**
   * The percentage of the score matrix in blocks that are not seen; blocks at the edge count as whole, as in
   * PyTorch.
   */
  readonly sparsity: number;
}

/**
 * The blocks of the score matrix that a mask mod shows. An incomplete block at the edge is never full. The
 * mask mod is evaluated row by row, which takes memory for one row of scores and time for all rows, once for
 * each sequence and head that differ.
 * @throws InvalidArgumentError for sizes that are not positive integers below 2^31, for more than 2^28
 * blocks, or as `checkMod`; TilewiseError with code `OUT_OF_MEMORY`.
 */
export function createBlockMask(maskMod: Mod<Tensor>, options: BlockMaskOptions): BlockMask {
  checkOptions('options', options, ['B', 'Hq', 'Sq', 'Skv', 'blockSize']);
  const { Sq, Skv, blockSize = 128 } = options;
  const sizes = sizesOf(blockSize);
  const B = options.B ?? 1;
  const H = options.Hq ?? 1;
  checkCounts({ B, Hq: H, Sq, Skv, 'blockSize[0]': sizes[0], 'blockSize[1]': sizes[1] });
  checkMod('maskMod', maskMod, 'bool');
  const [nQ, nKv] = [Math.ceil(Sq / sizes[0]), Math.ceil(Skv / sizes[1])];
  if (B * H * nQ * nKv > MAX_BLOCKS) {
    const rule = `must be large enough for at most 2^28 blocks, got ${B * H * nQ * nKv}`;
    throw new InvalidArgumentError('blockSize', rule);
  }
  const seen = countSeen(maskMod, { B, H, Sq, Skv }, sizes);
  const whole = sizes[0] * sizes[1];
  const isPartial = (n: number): boolean => n > 0 && n < whole;
  const isFull = (n: number): boolean => n === whole;
  const rows = { outer: nQ, inner: nKv, at: (o: number, i: number) => o * nKv + i };
  const columns = { outer: nKv, inner: nQ, at: (o: number, i: number) => i * nKv + o };
  const [kvNumBlocks, kvIndices] = ordered(seen, [B, H], rows, isPartial);
  const [fullKvNumBlocks, fullKvIndices] = ordered(seen, [B, H], rows, isFull);
  const [qNumBlocks, qIndices] = ordered(seen, [B, H], columns, isPartial);
  const [fullQNumBlocks, fullQIndices] = ordered(seen, [B, H], columns, isFull);
  let shown = 0;
  for (const n of seen) if (n > 0) shown++;
  const sparsity = 100 * (1 - (shown * whole) / (B * H * Sq * Skv));
  return {
    ...{ Sq, Skv, blockSize: sizes, kvNumBlocks, kvIndices, fullKvNumBlocks, fullKvIndices },
    ...{ qNumBlocks, qIndices, fullQNumBlocks, fullQIndices, sparsity },
  };
}

/** The maximum number of blocks of a mask: their indices then take 1 GiB. */
const MAX_BLOCKS = 2 ** 28;

/** Makes a row evaluator over all keys, unless a row of them does not fit in memory. */
function rowsOf({ expr, captures = {} }: Mod<Tensor>, Skv: number): EvaluateRow {
  try {
    return compileRows(expr, captures, Skv);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new TilewiseError('OUT_OF_MEMORY', `no memory for a row of ${Skv} scores`, { cause });
  }
}

/** Counts the visible pairs of each block (B, H, nQ, nKv). */
function countSeen(
  maskMod: Mod<Tensor>,
  { B, H, Sq, Skv }: { readonly B: number; readonly H: number; readonly Sq: number; readonly Skv: number },
  [sizeQ, sizeKv]: BlockSize,
): Int32Array | Float64Array {
  const [nQ, nKv] = [Math.ceil(Sq / sizeQ), Math.ceil(Skv / sizeKv)];
  // Only large blocks, of which there are few, have counts that need more than 32 bits.
  const Counts = sizeQ * sizeKv < 2 ** 31 ? Int32Array : Float64Array;
  const seen = allocateBy<Int32Array | Float64Array>(n => new Counts(n), B * H * nQ * nKv);
  const row = rowsOf(maskMod, Skv);
  const [differsByB, differsByH] = [usesVariable(maskMod.expr, 'b'), usesVariable(maskMod.expr, 'h')];
  for (let b = 0; b < B; b++) {
    for (let h = 0; h < H; h++) {
      const head = (b * H + h) * nQ * nKv;
      const same = ((differsByB ? b : 0) * H + (differsByH ? h : 0)) * nQ * nKv;
      if (same !== head) {
        seen.copyWithin(head, same, same + nQ * nKv);
        continue;
      }
      for (let q = 0; q < Sq; q++) {
        const values = row({ ...{ b, h, q, kv: 0, count: Skv }, scores: [], at: 0 });
        const at = head + Math.floor(q / sizeQ) * nKv;
        for (let n = 0; n < nKv; n++) {
          const end = Math.min((n + 1) * sizeKv, Skv);
          let count = 0;
          for (let kv = n * sizeKv; kv < end; kv++) count += values[kv];
          seen[at + n] += count;
        }
      }
    }
  }
  return seen;
}

/** For each outer block, the number of wanted inner blocks, and all inner blocks, the wanted ones first. */
function ordered(
  seen: Int32Array | Float64Array,
  [B, H]: readonly [number, number],
  side: { readonly outer: number; readonly inner: number; readonly at: (o: number, i: number) => number },
  wanted: (count: number) => boolean,
): [counts: Tensor, indices: Tensor] {
  const { outer, inner, at } = side;
  const counts = new Int32Array(B * H * outer);
  const indices = allocateBy(n => new Int32Array(n), B * H * outer * inner);
  for (let row = 0; row < B * H * outer; row++) {
    const head = Math.floor(row / outer) * outer * inner;
    const all = Array.from({ length: inner }, (_, i) => i);
    const isWanted = (i: number): boolean => wanted(seen[head + at(row % outer, i)]);
    const first = all.filter(isWanted);
    counts[row] = first.length;
    indices.set([...first, ...all.filter(i => !isWanted(i))], row * inner);
  }
  return [
    Tensor.wrap(counts, { dtype: 'i32', shape: [B, H, outer] }),
    Tensor.wrap(indices, { dtype: 'i32', shape: [B, H, outer, inner] }),
  ];
}
