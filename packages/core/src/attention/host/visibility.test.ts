import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ge, kv, load, q } from '../../expr/build.ts';
import { maskMod } from '../../expr/mods/mod.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { normalise } from '../call/normalise.ts';
import type { SdpaOptions } from '../options/options.ts';
import { createVisibility, type Visibility } from './visibility.ts';

function visibilityOf(Sq: number, Skv: number, options: SdpaOptions<Tensor>, B = 1, H = 1): Visibility {
  const inputs = {
    q: Tensor.zeros([B, H, Sq, 1]),
    k: Tensor.zeros([B, H, Skv, 1]),
    v: Tensor.zeros([B, H, Skv, 1]),
  };
  const { problem, operands } = normalise(inputs, options);
  return createVisibility(problem, operands);
}

/** One string per query, `x` for a visible key. */
function picture(visibility: Visibility, Sq: number, Skv: number, b = 0, h = 0): string[] {
  return Array.from({ length: Sq }, (_, i) =>
    Array.from({ length: Skv }, (_, j) => (visibility.isVisible(b, h, i, j) ? 'x' : '.')).join(''),
  );
}

describe('diagonal band', () => {
  test('causal starts in the top-left corner', () => {
    expect(picture(visibilityOf(2, 4, { causal: true }), 2, 4)).toEqual(['x...', 'xx..']);
    expect(picture(visibilityOf(4, 2, { causal: true }), 4, 2)).toEqual(['x.', 'xx', 'xx', 'xx']);
  });

  test('bottom-right aligns the last query with the last key, and the first of more queries than keys see none', () => {
    expect(picture(visibilityOf(2, 4, { causal: 'bottom-right' }), 2, 4)).toEqual(['xxx.', 'xxxx']);
    expect(picture(visibilityOf(4, 2, { causal: 'bottom-right' }), 4, 2)).toEqual(['..', '..', 'x.', 'xx']);
  });

  test('a window counts neighbours without the diagonal key', () => {
    expect(picture(visibilityOf(3, 4, { window: { left: 1, right: 0 } }), 3, 4)).toEqual([
      'x...',
      'xx..',
      '.xx.',
    ]);
    expect(picture(visibilityOf(3, 4, { window: { right: 1 } }), 3, 4)).toEqual(['xx..', 'xxx.', 'xxxx']);
    expect(picture(visibilityOf(3, 3, { window: { left: 0, right: 0 } }), 3, 3)).toEqual([
      'x..',
      '.x.',
      '..x',
    ]);
  });

  test('bottom-right is anchored per sequence', () => {
    const visibility = visibilityOf(3, 4, { causal: 'bottom-right', seqLensQ: [3, 1], seqLensKv: [4, 3] }, 2);
    expect(picture(visibility, 3, 4, 0)).toEqual(['xx..', 'xxx.', 'xxxx']);
    expect(picture(visibility, 3, 4, 1)).toEqual(['xxx.', '....', '....']);
    expect([visibility.diagonalOffset(0), visibility.diagonalOffset(1)]).toEqual([1, 2]);
  });

  const bound = fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined });
  const extent = fc.integer({ min: 0, max: 6 });
  test('key ranges and query ranges are the pairs with i + off − left ≤ j ≤ i + off + right', () => {
    fc.assert(
      fc.property(
        extent,
        extent,
        bound,
        bound,
        fc.constantFrom('top-left' as const, 'bottom-right' as const),
        (lenQ, lenKv, left, right, align) => {
          const [Sq, Skv] = [7, 7];
          const window = { left, right, align };
          const visibility = visibilityOf(Sq, Skv, { window, seqLensQ: [lenQ], seqLensKv: [lenKv] });
          const off = align === 'bottom-right' ? lenKv - lenQ : 0;
          for (let i = 0; i < Sq; i++) {
            for (let j = 0; j < Skv; j++) {
              const distance = j - (i + off);
              const expected =
                i < lenQ && j < lenKv && distance >= -(left ?? Infinity) && distance <= (right ?? Infinity);
              const [keyLo, keyHi] = visibility.keyRange(0, i);
              const [queryLo, queryHi] = visibility.queryRange(0, j);
              expect(j >= keyLo && j < keyHi).toBe(expected);
              expect(i >= queryLo && i < queryHi).toBe(expected);
              expect(visibility.isVisible(0, 0, i, j)).toBe(expected);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('masks', () => {
  test('a boolean mask broadcasts over batch and heads', () => {
    const mask = Tensor.from([1, 0, 1], [1, 1, 1, 3], { dtype: 'bool' });
    const visibility = visibilityOf(2, 3, { mask, causal: true }, 2, 2);
    expect(picture(visibility, 2, 3, 1, 1)).toEqual(['x..', 'x..']);
    expect(visibility.rangesAreExact).toBe(false);
  });

  test('bit t of a block mask, least significant first, is key tile t of 128 keys', () => {
    // Query tile 0 sees key tiles 1 and 8; query tile 1 sees key tile 0.
    const blockMask = Tensor.from([0b10, 0b1, 0b1, 0], [1, 1, 2, 2], { dtype: 'u8' });
    const visibility = visibilityOf(130, 9 * 128, { blockMask });
    const seen = (i: number) =>
      [0, 127, 128, 255, 256, 1023, 1024].filter(j => visibility.isVisible(0, 0, i, j));
    expect(seen(127)).toEqual([128, 255, 1024]);
    expect(seen(128)).toEqual([0, 127]);
  });

  test('a mask mod gets the indices of a pair, and tensors by name', () => {
    const starts = Tensor.from([0, 1, 1], [3], { dtype: 'i32' });
    const visibility = visibilityOf(3, 3, {
      maskMod: maskMod(() => ge(kv, load('starts', [q], 'i32')), { starts }),
    });
    expect(picture(visibility, 3, 3)).toEqual(['xxx', '.xx', '.xx']);
  });

  test('all masks must show a pair', () => {
    const mask = Tensor.from([1, 1, 0, 1], [4], { dtype: 'bool' });
    const visibility = visibilityOf(3, 4, {
      mask,
      causal: 'bottom-right',
      maskMod: maskMod(() => ge(kv, q)),
    });
    expect(picture(visibility, 3, 4)).toEqual(['xx..', '.x..', '...x']);
  });

  test('a missing operand is named', () => {
    const { problem } = normalise(
      { q: Tensor.zeros([1, 1, 1, 1]), k: Tensor.zeros([1, 1, 1, 1]), v: Tensor.zeros([1, 1, 1, 1]) },
      { seqLensKv: [1] },
    );
    expect(() => createVisibility(problem, {})).toThrow(/^seqLensKv must be given/);
  });
});

test('packed sequences have the lengths between their starts', () => {
  const tokens = Tensor.zeros([5, 1, 1]);
  const { problem, operands } = normalise(
    { q: tokens, k: tokens, v: tokens },
    { cuSeqLensQ: [0, 2, 2, 5], cuSeqLensKv: [0, 1, 4, 5], causal: 'bottom-right' },
  );
  const visibility = createVisibility(problem, operands);
  expect([0, 1, 2].map(visibility.lengthQ)).toEqual([2, 0, 3]);
  expect([0, 1, 2].map(visibility.lengthKv)).toEqual([1, 3, 1]);
  expect(picture(visibility, 3, 3, 2)).toEqual(['...', '...', 'x..']);
});
