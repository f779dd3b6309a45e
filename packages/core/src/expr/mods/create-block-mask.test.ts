import { blockMaskCases } from '@tilewise/test-data';
import { describe, expect, it } from 'vitest';
import { Tensor } from '../../tensor/tensor.ts';
import { add, and, eq, ge, gt, le, load, lt, or, sub } from '../build.ts';
import { createBlockMask } from './create-block-mask.ts';
import { andMasks, causalMask, documentMask, prefixLmMask, slidingWindowMask } from './mask-mods.ts';
import { type Mod, maskMod } from './mod.ts';

const i32 = (values: readonly number[]): Tensor => Tensor.from(values, [values.length], { dtype: 'i32' });

const documents = documentMask(
  i32([100, 156, 7, 200, 49].flatMap((length, id) => new Array<number>(length).fill(id))),
);

/** The masks of the cases, by name. */
const masks: Readonly<Record<string, () => Mod<Tensor>>> = {
  noop: () => maskMod(() => true),
  causal: () => causalMask(),
  inverse_causal: () => maskMod(({ q, kv }) => le(q, kv)),
  sliding_causal_100: () => maskMod(({ q, kv }) => and(ge(q, kv), le(sub(q, kv), 100))),
  sliding_256: () => slidingWindowMask({ left: 256, right: 256 }),
  prefix_lm_150: () => prefixLmMask(150),
  'document(100,156,7,200,49)': () => documents,
  document_causal: () => andMasks<Tensor>(documents, causalMask()),
  dead_rows_q_lt_half: () => maskMod(({ q }) => lt(q, 256)),
  per_head_causal_or_full: () => maskMod(({ h, q, kv }) => or(eq(h, 1), ge(q, kv))),
  per_batch_len: () =>
    maskMod(({ b, kv }) => lt(kv, load('lengths', [b], 'i32')), { lengths: i32([200, 400]) }),
};

describe('createBlockMask', () => {
  const cases = blockMaskCases();

  it.each(Object.keys(masks))('gives the same result as PyTorch for %s', name => {
    const own = cases.filter(({ mask }) => mask === name);
    expect(own.length).toBeGreaterThan(0);
    for (const c of own) {
      const { B, H, qLen: Sq, kvLen: Skv, blockSize } = c;
      const got = createBlockMask(masks[name](), { B, Hq: H, Sq, Skv, blockSize });
      const where = `B ${B}, H ${H}, ${Sq} × ${Skv}, blocks of ${blockSize}`;
      for (const side of ['kv', 'fullKv', 'q', 'fullQ'] as const) {
        const counts = got[`${side}NumBlocks`];
        const indices = got[`${side}Indices`];
        expect(counts.shape, where).toEqual(indices.shape.slice(0, 3));
        expect([...counts.data], where).toEqual(c[`${side}NumBlocks`].flat(3));
        expect(listed(counts, indices), where).toEqual(c[`${side}Indices`].flat(2));
      }
      expect(got.sparsity, where).toBeCloseTo(c.sparsityPct, 4);
    }
  });

  it('covers every mask of the cases', () => {
    expect(new Set(cases.map(({ mask }) => mask))).toEqual(new Set(Object.keys(masks)));
  });

  it('lists the unused blocks after the used ones', () => {
    const { kvNumBlocks, kvIndices } = createBlockMask(causalMask(), { Sq: 4, Skv: 6, blockSize: 2 });
    expect([...kvNumBlocks.data]).toEqual([1, 1]);
    expect([...kvIndices.data]).toEqual([0, 1, 2, 1, 0, 2]);
  });

  it('evaluates a load only if its value is needed', () => {
    const t = { t: i32([1, 0, 1, 1]) };
    const guarded = maskMod(
      ({ q, kv }) => and(lt(sub(q, kv), 4), ge(q, kv), eq(load('t', [sub(q, kv)], 'i32'), 1)),
      t,
    );
    const { fullKvNumBlocks, sparsity } = createBlockMask(guarded, { Sq: 8, Skv: 8, blockSize: 1 });
    expect([...fullKvNumBlocks.data]).toEqual([1, 1, 2, 3, 3, 3, 3, 3]);
    expect(sparsity).toBe((100 * (64 - 19)) / 64);
    const free = maskMod(({ q, kv }) => eq(load('t', [add(q, kv)], 'i32'), 1), t);
    expect(() => createBlockMask(free, { Sq: 8, Skv: 8 })).toThrow(/captures.t was loaded at \[4\], outside/);
  });

  it('rejects invalid sizes, and values that are not masks', () => {
    const shape = { Sq: 8, Skv: 8 };
    expect(() => createBlockMask(causalMask(), { ...shape, blockSize: 0 })).toThrow(
      /blockSize\[0\] must be a positive/,
    );
    expect(() => createBlockMask(causalMask(), { ...shape, Hq: 1.5 })).toThrow(
      /Hq must be a positive integer below 2\^31, got 1.5/,
    );
    const lost = maskMod(({ kv }) => gt(load('x', [kv]), 0));
    expect(() => createBlockMask(lost, shape)).toThrow(/maskMod.captures must hold 'x'/);
  });
});

/** The indices up to each list's count, list by list. */
function listed(counts: Tensor, indices: Tensor): number[][] {
  const [, , , most] = indices.shape;
  return Array.from(counts.data, (count, row) => [...indices.data.slice(row * most, row * most + count)]);
}

describe('createBlockMask with wrong options', () => {
  it.each<[string, object, string]>([
    ['Sq beyond i32', { Sq: 2 ** 40, Skv: 8 }, 'Sq'],
    ['Skv that is a string', { Sq: 8, Skv: '8' }, 'Skv'],
    ['more blocks than memory holds', { Sq: 2 ** 30, Skv: 2 ** 30, blockSize: 1 }, 'blockSize'],
    ['a block size of one dimension', { Sq: 8, Skv: 8, blockSize: [8] }, 'blockSize'],
    ['a block size that is null', { Sq: 8, Skv: 8, blockSize: null }, 'blockSize'],
    ['a misspelt option', { Sq: 8, Skv: 8, blocksize: 8 }, 'blocksize'],
  ])('refuses %s before any work', (_, options, argument) => {
    expect(() => createBlockMask(causalMask(), options as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', argument }),
    );
  });
});
