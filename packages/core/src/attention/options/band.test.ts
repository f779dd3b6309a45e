import { expect, test } from 'vitest';
import { bandOf } from './band.ts';

test('without causal and window there is no band', () => {
  expect(bandOf({})).toBeNull();
  expect(bandOf({ causal: false, window: {} })).toBeNull();
});

test('an alignment without bounds hides nothing, but defines the diagonal', () => {
  const band = { left: null, right: null, align: 'bottom-right' };
  expect(bandOf({ window: { align: 'bottom-right' } })).toEqual(band);
  expect(bandOf({ window: { align: 'top-left' } })).toEqual({ ...band, align: 'top-left' });
});

test('causal is a band that ends on the diagonal, top-left by default', () => {
  expect(bandOf({ causal: true })).toEqual({ left: null, right: 0, align: 'top-left' });
  expect(bandOf({ causal: 'top-left' })).toEqual(bandOf({ causal: true }));
  expect(bandOf({ causal: 'bottom-right' })).toEqual({ left: null, right: 0, align: 'bottom-right' });
});

test('a window counts neighbours and may be unbounded on a side', () => {
  expect(bandOf({ window: { left: 3 } })).toEqual({ left: 3, right: null, align: 'top-left' });
  expect(bandOf({ window: { right: 0 } })).toEqual(bandOf({ causal: true }));
});

test('causal and a window intersect on the diagonal of either', () => {
  const band = { left: 2, right: 0, align: 'bottom-right' };
  expect(bandOf({ causal: 'bottom-right', window: { left: 2, right: 9 } })).toEqual(band);
  expect(bandOf({ causal: 'bottom-right', window: { left: 2, align: 'bottom-right' } })).toEqual(band);
});
