import { describe, expect, it } from 'vitest';
import { sdpa } from '../../reference/sdpa.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { and, eq, gt, not } from '../build.ts';
import { blockMaskBits } from './block-mask-bits.ts';
import { createBlockMask } from './create-block-mask.ts';
import { andMasks, causalMask, orMasks, prefixLmMask, slidingWindowMask } from './mask-mods.ts';
import { maskMod } from './mod.ts';

describe('blockMaskBits', () => {
  const mask = orMasks<Tensor>(slidingWindowMask({ left: 40, right: 0 }), prefixLmMask(3));

  it.each([128, 64, 256, [32, 300]] as const)(
    'covers the pairs that the mask shows, from blocks of %s',
    blockSize => {
      const [Sq, Skv] = [300, 1200];
      const only = andMasks<Tensor>(
        mask,
        maskMod(({ h, kv }) => not(and(eq(h, 1), gt(kv, 1000)))),
      );
      const options = { B: 1, Hq: 2, Sq, Skv, blockSize } as const;
      const blockMask = blockMaskBits(createBlockMask(only, options));
      expect([blockMask.dtype, blockMask.shape]).toEqual(['u8', [1, 2, 3, 2]]);
      const ramp = (length: number): Tensor =>
        Tensor.from(
          Array.from({ length }, (_, n) => Math.sin(n)),
          [1, 1, length, 1],
        );
      const q = ramp(Sq).expand([1, 2, Sq, 1]);
      const without = sdpa(q, ramp(Skv), ramp(Skv), { maskMod: only });
      const withBits = sdpa(q, ramp(Skv), ramp(Skv), { maskMod: only, blockMask });
      expect([...withBits.o.toFloat32()]).toEqual([...without.o.toFloat32()]);
    },
  );

  it('has a bit for each block of 128 with a visible pair, and no other', () => {
    const causal = createBlockMask(causalMask(), { Sq: 257, Skv: 257 });
    expect([...blockMaskBits(causal).data]).toEqual([0b1, 0b11, 0b111]);
  });

  it('reads views of blocks, and refuses views that do not fit', () => {
    const blocks = createBlockMask(causalMask(), { Sq: 300, Skv: 300 });
    const later = Tensor.zeros([2, ...blocks.kvIndices.shape], { dtype: 'i32' });
    const kvIndices = later.slice(0, 1, 2).reshape(blocks.kvIndices.shape);
    for (const at of [0, 1, 2]) {
      for (const n of [0, 1, 2]) kvIndices.set(blocks.kvIndices.get(0, 0, at, n), 0, 0, at, n);
    }
    expect(blockMaskBits({ ...blocks, kvIndices }).data).toEqual(blockMaskBits(blocks).data);
    const broken = (change: object) => () => blockMaskBits({ ...blocks, ...change });
    expect(broken({ blockSize: undefined })).toThrow('blockSize must be a number or [q, kv], got undefined');
    expect(broken({ Sq: 600 })).toThrow('blocks.kvIndices must have shape [1,1,5,3], got [1,1,3,3]');
    expect(broken({ fullKvNumBlocks: kvIndices })).toThrow('blocks.fullKvNumBlocks must have shape [1,1,3]');
  });

  it.each([
    ['counts of more blocks than there are', 'kvNumBlocks', 4],
    ['negative counts', 'fullKvNumBlocks', -1],
    ['a listed block that does not exist', 'kvIndices', 3],
    ['a listed block before the first', 'fullKvIndices', -1],
  ] as const)('refuses %s', (_, name, value) => {
    const blocks = createBlockMask(causalMask(), { Sq: 300, Skv: 300 });
    const t = blocks[name].contiguous();
    // The second row has a full block and a partial one.
    if (t.rank === 3) t.set(value, 0, 0, 1);
    else t.set(value, 0, 0, 1, 0);
    expect(() => blockMaskBits({ ...blocks, [name]: t })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: `blocks.${name}` }),
    );
  });

  it('reads no index after the counted ones', () => {
    const blocks = createBlockMask(causalMask(), { Sq: 300, Skv: 300 });
    const kvIndices = blocks.kvIndices.contiguous();
    kvIndices.set(99, 0, 0, 0, 1);
    expect(blockMaskBits({ ...blocks, kvIndices }).data).toEqual(blockMaskBits(blocks).data);
  });
});
