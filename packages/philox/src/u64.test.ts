import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidArgumentError } from './errors.ts';
import { joinU64, splitU64, toU64, toUint } from './u64.ts';

describe('toU64', () => {
  it('splits every 64-bit integer into two words that join back', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), value => {
        const [lo, hi] = toU64(value, 'seed');
        expect(BigInt(lo) + BigInt(hi) * 2n ** 32n).toBe(value);
        expect(joinU64([lo, hi])).toBe(value);
      }),
    );
  });

  it('treats a number like the equal bigint, even above 2^32', () => {
    expect(toU64(2 ** 33 + 7, 'seed')).toEqual(toU64(2n ** 33n + 7n, 'seed'));
    expect(toU64(Number.MAX_SAFE_INTEGER, 'seed')).toEqual([0xffffffff, 0x1fffff]);
  });

  it.each([
    ['a negative number', -1, '-1'],
    ['a negative bigint', -1n, '-1n'],
    ['a fraction', 1.5, '1.5'],
    ['NaN', Number.NaN, 'NaN'],
    ['2^64', 2n ** 64n, '18446744073709551616n'],
    ['a number past the safe integers', 2 ** 53, '9007199254740992'],
  ])('rejects %s and names the argument and the value', (_, value, shown) => {
    const call = () => toU64(value, 'dropout.seed');
    expect(call).toThrow(InvalidArgumentError);
    expect(call).toThrow(`dropout.seed must be a bigint or a safe integer in [0, 2^64), got ${shown}`);
    expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: 'dropout.seed' }));
  });

  it('rejects values that are not numbers', () => {
    expect(() => toUint('42' as unknown as number, 'seed', 64)).toThrow('got "42"');
    expect(() => toUint(undefined as unknown as number, 'seed', 64)).toThrow('got undefined');
  });
});

describe('splitU64', () => {
  it('wraps at 64 bits', () => {
    expect(splitU64(2n ** 64n + 5n)).toEqual([5, 0]);
    expect(splitU64(-1n)).toEqual([0xffffffff, 0xffffffff]);
  });

  it('takes a safe integer too', () => {
    expect(splitU64(2 ** 33 + 7)).toEqual([7, 2]);
    expect(splitU64(-1)).toEqual([0xffffffff, 0xffffffff]);
  });

  it.each([[1.5], [2 ** 53], ['5'], [undefined], [null]])('refuses %j', value => {
    expect(() => splitU64(value as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: 'value' }),
    );
  });
});

describe('joinU64', () => {
  it.each([
    [undefined, 'undefined'],
    [5, 'undefined'],
    [[1], 'undefined'],
    [[-1, 0], '-1'],
    [[0, 2 ** 32], '4294967296'],
    [['1', 0], '"1"'],
  ])('refuses %j', (words, shown) => {
    const call = () => joinU64(words as never);
    expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: 'words' }));
    expect(call).toThrow(`words must be a bigint or a safe integer in [0, 2^32), got ${shown}`);
  });
});
