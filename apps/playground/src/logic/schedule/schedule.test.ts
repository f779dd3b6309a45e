import { attainable } from '@tilewise/device-report';
import { describe, expect, it } from 'vitest';
import { tilesMoved, totalTraffic, visits } from './loop-order.ts';
import { bytesMoved, flops, naiveBytesMoved } from './roofline.ts';

describe('loop orders', () => {
  it.each([1, 2, 5, 8])('have the known traffic for n = %i', n => {
    expect(totalTraffic('inner-product', n)).toEqual({ loadsQ: n, loadsKv: n * n, loadsO: n, storesO: n });
    expect(totalTraffic('outer-product', n)).toEqual({
      loadsQ: n * n,
      loadsKv: n,
      loadsO: n * n,
      storesO: n * n,
    });
  });

  it('save n − 1 stores for each output that stays in fast memory', () => {
    const n = 6;
    for (let slots = 0; slots < n; slots++) {
      const saved =
        totalTraffic('outer-product', n, slots).storesO - totalTraffic('outer-product', n, slots + 1).storesO;
      expect(saved).toBe(n - 1);
    }
    expect(totalTraffic('outer-product', n, n).storesO).toBe(totalTraffic('inner-product', n).storesO);
  });

  it('move three tiles a visit with keys outside, and two with queries outside', () => {
    const n = 8;
    expect(tilesMoved(totalTraffic('outer-product', n)) - 2 * n).toBe(3 * n * n);
    expect(tilesMoved(totalTraffic('inner-product', n)) - 3 * n).toBe(2 * n * n);
  });

  it('visit every pair of tiles once', () => {
    for (const order of ['inner-product', 'outer-product'] as const) {
      expect(new Set(visits(order, 4).map(({ i, j }) => `${i},${j}`)).size).toBe(16);
    }
  });
});

describe('the roofline', () => {
  const device = { peak: 100, bandwidth: 1000 };

  it('is limited by memory below the ridge and by arithmetic above', () => {
    expect(attainable(50, device)).toEqual({ reached: 50, limit: 'memory' });
    expect(attainable(200, device)).toEqual({ reached: 100, limit: 'arithmetic' });
  });

  it('finds storing S and P twice as expensive as not to, for tiles half as wide as the head', () => {
    const [n, tile, d] = [64, 64, 128];
    const flash = bytesMoved(totalTraffic('inner-product', n), tile, d, 2);
    expect(naiveBytesMoved(n, tile, d, 2) / flash).toBeCloseTo(2, 1);
  });

  it.each([16, 64, 512])('keeps standard attention below d / b FLOP per byte with tiles of %i rows', tile => {
    const [n, d, b] = [4096 / tile, 128, 2];
    expect(flops(n, tile, d) / naiveBytesMoved(n, tile, d, b)).toBeLessThan(d / b);
  });

  it('moves right when tiles grow: fewer bytes for the same work', () => {
    const intensity = (tile: number): number => {
      const n = 1024 / tile;
      return flops(n, tile, 64) / bytesMoved(totalTraffic('inner-product', n), tile, 64, 2);
    };
    expect(intensity(64)).toBeGreaterThan(1.9 * intensity(32));
  });
});
