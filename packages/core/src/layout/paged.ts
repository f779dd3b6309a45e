import { checkFunction, checkObject, describeValue, InvalidArgumentError } from '../errors.ts';
import { allocate } from '../tensor/allocate.ts';
import { copyTensor } from '../tensor/copy.ts';
import { Tensor } from '../tensor/tensor.ts';
import { checkAxes, positions } from './axes.ts';

/**
 * Keys or values in blocks, and the table that locates each position: position s of sequence b is row s mod
 * pageSize of block table[b, ⌊s / pageSize⌋].
 */
export interface Paged {
  /** (blocks, H, pageSize, D). */
  readonly container: Tensor;
  /** i32 (B, pages). */
  readonly table: Tensor;
}

/**
 * A copy of a dense (B, H, S, D) tensor in blocks of `pageSize` positions; the last block of a sequence is
 * padded with zeros.
 * @param blockOf the block that holds a page of a sequence, different for every page. Default: b·pages +
 * page.
 * @throws InvalidArgumentError if `pageSize` is not a positive integer, if `blockOf` is not a function, or if
 * it gives one block to two pages.
 */
export function toPages(
  dense: Tensor,
  pageSize: number,
  blockOf?: (b: number, page: number) => number,
): Paged {
  checkAxes('dense', dense, ['B', 'H', 'S', 'D']);
  if (!Number.isInteger(pageSize) || pageSize < 1) {
    throw new InvalidArgumentError('pageSize', `must be a positive integer, got ${describeValue(pageSize)}`);
  }
  if (blockOf !== undefined) checkFunction('blockOf', blockOf);
  const [B, H, S, D] = dense.shape;
  const pages = Math.ceil(S / pageSize);
  const { table, count } = assignBlocks(B, pages, blockOf ?? ((b, page) => b * pages + page));
  const container = Tensor.zeros([count, H, pageSize, D], { dtype: dense.dtype });
  // Pages without elements, of which there may be billions, have nothing to copy.
  const copied = container.size > 0 ? B * pages : 0;
  for (let n = 0; n < copied; n++) {
    const start = (n % pages) * pageSize;
    const end = Math.min(start + pageSize, S);
    const b = Math.floor(n / pages);
    copyTensor(positions(dense, b, start, end), positions(container, table.data[n], 0, end - start));
  }
  return { container, table };
}

/** A table with the block of each page, and the number of blocks that it needs. */
function assignBlocks(
  B: number,
  pages: number,
  blockOf: (b: number, page: number) => number,
): { table: Tensor; count: number } {
  const table = Tensor.zeros([B, pages], { dtype: 'i32' });
  const blocks = table.data;
  const refuse = (block: number, n: number): never => {
    const rule = `must give every page its own block, got ${block} for page ${n % pages} of sequence ${Math.floor(n / pages)}`;
    throw new InvalidArgumentError('blockOf', rule);
  };
  let count = 0;
  for (let n = 0; n < blocks.length; n++) {
    const block = blockOf(Math.floor(n / pages), n % pages);
    if ((block | 0) !== block || block < 0) refuse(block, n);
    blocks[n] = block;
    count = Math.max(count, block + 1);
  }
  const taken = allocate('bool', count);
  for (let n = 0; n < blocks.length; n++) {
    const block = blocks[n];
    if (taken[block]) refuse(block, n);
    taken[block] = 1;
  }
  return { table, count };
}

/**
 * A copy of a paged tensor as a dense (B, H, S, D) tensor. S defaults to the number of positions that the
 * table addresses.
 * @throws InvalidArgumentError if S is more than that, or if the table holds a block that does not exist.
 */
export function fromPages(paged: Paged, S?: number): Tensor {
  checkObject('paged', paged);
  const { container, table } = paged;
  checkAxes('container', container, ['blocks', 'H', 'pageSize', 'D']);
  checkAxes('table', table, ['B', 'pages']);
  const [count, H, pageSize, D] = container.shape;
  const [B, pages] = table.shape;
  const length = S ?? pages * pageSize;
  if (!(Number.isInteger(length) && length >= 0 && length <= pages * pageSize)) {
    throw new InvalidArgumentError(
      'S',
      `must be at most ${pages * pageSize}, which the table addresses, got ${describeValue(length)}`,
    );
  }
  const dense = Tensor.zeros([B, H, length, D], { dtype: container.dtype });
  for (let b = 0; b < B; b++) {
    for (let start = 0; start < length; start += pageSize) {
      const page = start / pageSize;
      const block = table.get(b, page);
      if (!Number.isInteger(block) || block < 0 || block >= count) {
        const rule = `must hold blocks in [0, ${count}), got ${block} at [${b},${page}]`;
        throw new InvalidArgumentError('table', rule);
      }
      const end = Math.min(start + pageSize, length);
      copyTensor(positions(container, block, 0, end - start), positions(dense, b, start, end));
    }
  }
  return dense;
}
