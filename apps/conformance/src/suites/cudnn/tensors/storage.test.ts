import { describe, expect, test } from 'vitest';
import { tinyCase } from '../../../../testing/tiny-case.ts';
import { concreteCalls } from '../concrete/concrete.ts';
import { parseCase } from '../format/case-format.ts';
import { makeCall } from './call.ts';
import { damage, MARGIN } from './canary.ts';
import { ownedOffsets, place } from './storage.ts';

const concrete = (changes = {}) => concreteCalls(parseCase(tinyCase(changes)))[0];
const isNaNBits = (bits: number): boolean => (bits & 0x7fff) > 0x7c00;

describe('a strided operand', () => {
  test('has its values where the strides say, and NaN everywhere else', () => {
    const { exact, laidOut } = makeCall(concrete());
    const { k } = laidOut;
    // With one head, the stride of heads does not matter.
    expect(k.data.length).toBe(MARGIN + 130 + 11 * 10 + 8 + MARGIN);
    expect(k.get(1, 0, 6, 7)).toBe(exact.k.get(1, 0, 6, 7));
    const numbers = [...k.data].filter(bits => !isNaNBits(bits)).length;
    expect(numbers).toBe((12 + 7) * 8);
  });

  test('has NaN in the rows beyond the lengths', () => {
    const { laidOut } = makeCall(concrete());
    expect(laidOut.q.get(1, 1, 3, 0)).not.toBeNaN();
    expect(laidOut.q.get(1, 1, 4, 0)).toBeNaN();
  });
});

test('packed sequences are stored one after the other, with NaN after the last', () => {
  const ragged = { padding: true, ragged: true, seq_len_q: [9, 4], seq_len_kv: [12, 7] };
  const { exact, laidOut } = makeCall(concrete({ layout: 'thd', strides: undefined, flags: ragged }));
  expect(laidOut.q.shape).toEqual([18, 2, 8]);
  expect(laidOut.q.get(9 + 3, 1, 5)).toBe(exact.q.get(1, 1, 3, 5));
  expect(laidOut.q.get(13, 0, 0)).toBeNaN();
  expect(laidOut.options).toMatchObject({ cuSeqLensQ: [0, 9, 13], cuSeqLensKv: [0, 12, 19], maxSeqLenQ: 9 });
});

test('queries that are packed beside dense keys have ragged offsets, in elements', () => {
  const flags = { padding: true, ragged: 'q,o', seq_len_q: [9, 4], seq_len_kv: [12, 7] };
  const { laidOut } = makeCall(concrete({ layout: 'q,o thd; k,v bshd', strides: undefined, flags }));
  expect(laidOut.k.shape).toEqual([2, 1, 12, 8]);
  expect(laidOut.options).toMatchObject({
    ...{ seqLensQ: [9, 4], seqLensKv: [12, 7], maxSeqLenQ: 9 },
    raggedOffsets: { q: [0, 9 * 16, 13 * 16] },
  });
});

test('the pages of a sequence are not adjacent, and have NaN after its keys', () => {
  const flags = { padding: true, paged: true, block_size: 4, seq_len_q: [9, 4], seq_len_kv: [12, 6] };
  const { exact, laidOut } = makeCall(concrete({ op: 'sdpa_fwd', flags }));
  expect([...(laidOut.options.pageTableK?.data ?? [])]).toEqual([0, 2, 4, 1, 3, 5]);
  expect(laidOut.k.shape).toEqual([6, 1, 4, 8]);
  expect(laidOut.k.get(3, 0, 1, 2)).toBe(exact.k.get(1, 0, 5, 2));
  expect(laidOut.k.get(3, 0, 2, 0)).toBeNaN();
});

describe('damage', () => {
  const owned = (packed: boolean, placed: ReturnType<typeof place>) => ownedOffsets(placed, 2, packed);

  test('is found outside a result, in gaps and in margins', () => {
    const placed = place(concrete(), 'o', 'f16');
    const { data, offset } = placed.tensor;
    expect(damage(placed.tensor, owned(false, placed))).toBe(0);
    placed.tensor.set(1, 1, 1, 8, 15);
    expect(damage(placed.tensor, owned(false, placed))).toBe(0);
    data[offset + 32] = 0;
    data[3] = 0x7e00;
    data[data.length - 1] = 0;
    expect(damage(placed.tensor, owned(false, placed))).toBe(3);
  });

  test('is found in tokens that belong to no packed sequence', () => {
    const flags = { padding: true, ragged: true, seq_len_q: [9, 4], seq_len_kv: [12, 7] };
    const placed = place(concrete({ layout: 'thd', strides: undefined, flags }), 'o', 'f16');
    placed.tensor.set(1, 12, 1, 15);
    expect(damage(placed.tensor, owned(true, placed))).toBe(0);
    placed.tensor.set(1, 13, 0, 0);
    expect(damage(placed.tensor, owned(true, placed))).toBe(1);
  });
});
