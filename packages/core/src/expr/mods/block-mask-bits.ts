import { checkObject, InvalidArgumentError } from '../../errors.ts';
import { checkHostTensor } from '../../tensor/checks/check-on-host.ts';
import { checkTensorOf } from '../../tensor/checks/check-tensor.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { checkCounts, sizesOf } from './block-sizes.ts';
import type { BlockMask } from './create-block-mask.ts';

/** The number of queries, and of keys, of a bit. */
const TILE = 128;

/**
 * A block mask as the option `blockMask` of `sdpa` takes it: u8 (B, Hq, ⌈Sq / 128⌉, ⌈⌈Skv / 128⌉ / 8⌉), with
 * one bit per 128 × 128 tile, which is set if the tile overlaps a block with a visible pair. Also pass the
 * mask mod, which decides within partly visible blocks.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError for blocks that `createBlockMask`
 * cannot have made.
 */
export function blockMaskBits(blocks: BlockMask): Tensor {
  checkObject('blocks', blocks);
  const { Sq, Skv, kvIndices } = blocks;
  for (const name of ['kvIndices', 'kvNumBlocks', 'fullKvIndices', 'fullKvNumBlocks'] as const)
    checkHostTensor(`blocks.${name}`, blocks[name]);
  const [sizeQ, sizeKv] = sizesOf(blocks.blockSize);
  checkCounts({ Sq, Skv, 'blockSize[0]': sizeQ, 'blockSize[1]': sizeKv });
  const [nQ, nKv] = [Math.ceil(Sq / sizeQ), Math.ceil(Skv / sizeKv)];
  const [B = 1, H = 1] = kvIndices.shape;
  const lists = [
    listOf(blocks, 'kvNumBlocks', 'kvIndices', [B, H, nQ, nKv]),
    listOf(blocks, 'fullKvNumBlocks', 'fullKvIndices', [B, H, nQ, nKv]),
  ];
  const tilesQ = Math.ceil(Sq / TILE);
  const bytes = Math.ceil(Math.ceil(Skv / TILE) / 8);
  const mask = Tensor.zeros([B, H, tilesQ, bytes], { dtype: 'u8' });
  for (let row = 0; row < B * H * nQ; row++) {
    const [firstQ, lastQ] = tilesOf(row % nQ, sizeQ, Sq);
    for (const { counts, indices } of lists) {
      for (let n = 0; n < counts[row]; n++) {
        const [firstKv, lastKv] = tilesOf(indices[row * nKv + n], sizeKv, Skv);
        for (let i = firstQ; i <= lastQ; i++) {
          const at = (Math.floor(row / nQ) * tilesQ + i) * bytes;
          for (let j = firstKv; j <= lastKv; j++) mask.data[at + (j >> 3)] |= 1 << (j & 7);
        }
      }
    }
  }
  return mask;
}

/** The key blocks that each query block sees: the first `counts[row]` of the indices of its row. */
interface BlockList {
  readonly counts: Tensor['data'];
  readonly indices: Tensor['data'];
}

/** A list of a block mask, whose counts and indices have been checked. */
function listOf(
  blocks: BlockMask,
  countsName: 'kvNumBlocks' | 'fullKvNumBlocks',
  indicesName: 'kvIndices' | 'fullKvIndices',
  shape: readonly number[],
): BlockList {
  const nKv = shape[3];
  checkTensorOf(`blocks.${indicesName}`, blocks[indicesName], shape, 'i32');
  checkTensorOf(`blocks.${countsName}`, blocks[countsName], shape.slice(0, 3), 'i32');
  const counts = blocks[countsName].contiguous().data;
  const indices = blocks[indicesName].contiguous().data;
  for (const [row, count] of counts.entries()) {
    if (count < 0 || count > nKv)
      throw new InvalidArgumentError(`blocks.${countsName}`, `must hold counts in [0, ${nKv}], got ${count}`);
    const wrong = indices.subarray(row * nKv, row * nKv + count).find(block => block < 0 || block >= nKv);
    if (wrong !== undefined)
      throw new InvalidArgumentError(
        `blocks.${indicesName}`,
        `must hold blocks in [0, ${nKv}), got ${wrong}`,
      );
  }
  return { counts, indices };
}

/** The first and the last tile that a block overlaps. */
function tilesOf(block: number, size: number, length: number): [first: number, last: number] {
  return [Math.floor((block * size) / TILE), Math.floor((Math.min((block + 1) * size, length) - 1) / TILE)];
}
