import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PANEL, STRIP } from '../../kernels/interface/panel.ts';
import { divideProduct } from './divide-product.ts';

const shapes = fc.record({
  batch: fc.integer({ min: 1, max: 40 }),
  m: fc.integer({ min: 1, max: 1200 }),
  n: fc.integer({ min: 1, max: 2400 }),
  k: fc.integer({ min: 1, max: 3000 }),
  sharesB: fc.boolean(),
  packsA: fc.boolean(),
});

test('blocks are whole strips and panels, and a single thread packs nothing twice', () => {
  fc.assert(
    fc.property(shapes, fc.integer({ min: 1, max: 64 }), (shape, threads) => {
      const { entries, height, width } = divideProduct(shape, threads);
      expect([height % STRIP, width % PANEL]).toEqual([0, 0]);
      expect(Math.min(entries, height, width)).toBeGreaterThan(0);
      if (threads === 1) expect([entries, height >= shape.m]).toEqual([shape.batch, true]);
    }),
  );
});

test('large products give each thread as much work as the others', () => {
  const tasks = (m: number, n: number, threads: number): number => {
    const { height, width } = divideProduct({ batch: 1, m, n, k: 512, sharesB: true, packsA: true }, threads);
    return Math.ceil(m / height) * Math.ceil(n / width);
  };
  for (const threads of [2, 3, 4, 8, 16]) {
    expect(tasks(1024, 1024, threads) % threads).toBe(0);
    expect(tasks(2048, 512, threads) % threads).toBe(0);
  }
});

test('the longer side of a product is divided', () => {
  const tall = divideProduct({ batch: 1, m: 768, n: 32, k: 128, sharesB: true, packsA: true }, 2);
  expect([tall.height < 768, tall.width]).toEqual([true, 32]);
  const wide = divideProduct({ batch: 1, m: 32, n: 768, k: 128, sharesB: true, packsA: true }, 2);
  expect([wide.height, wide.width < 768]).toEqual([32, true]);
  // Narrow columns would read all of A again and again.
  const unpacked = divideProduct({ batch: 1, m: 768, n: 128, k: 32, sharesB: true, packsA: false }, 2);
  expect([unpacked.height < 768, unpacked.width >= 64]).toEqual([true, true]);
  const many = divideProduct({ batch: 16, m: 64, n: 64, k: 64, sharesB: false, packsA: true }, 2);
  expect([many.entries < 16, many.height, many.width]).toEqual([true, 64, 64]);
});

test('products with few results have few tasks, because each packs long rows', () => {
  const tasks = ({ m, n, k }: { readonly m: number; readonly n: number; readonly k: number }): number => {
    const { height, width } = divideProduct({ batch: 1, m, n, k, sharesB: true, packsA: true }, 2);
    return Math.ceil(m / height) * Math.ceil(n / width);
  };
  expect(tasks({ m: 128, n: 32, k: 768 })).toBe(2);
  expect(tasks({ m: 768, n: 128, k: 32 })).toBeGreaterThan(2);
});
