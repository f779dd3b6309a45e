import { loadPhilox } from '@tilewise/test-data';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidArgumentError } from '../errors.ts';
import { philox2x32 } from './block2x32.ts';
import { philox4x32 } from './block4x32.ts';
import { philox2x64, philox4x64 } from './block64.ts';

interface KnownAnswer {
  readonly alg: 'philox4x32' | 'philox2x32' | 'philox4x64' | 'philox2x64';
  readonly rounds: number;
  readonly key: string[];
  readonly counter: string[];
  readonly out: string[];
  readonly tag: string;
}

const { vectors } = loadPhilox<{ vectors: KnownAnswer[] }>('philox_kat');

function run({ alg, rounds, key, counter }: KnownAnswer): string[] {
  const [k0 = '', k1 = ''] = key;
  const [c0 = '', c1 = '', c2 = '', c3 = ''] = counter;
  const word = (hex: string) => Number.parseInt(hex, 16);
  const long = (hex: string) => BigInt(`0x${hex}`);
  switch (alg) {
    case 'philox4x32':
      return hex(philox4x32([word(c0), word(c1), word(c2), word(c3)], [word(k0), word(k1)], rounds), 8);
    case 'philox2x32':
      return hex(philox2x32([word(c0), word(c1)], word(k0), rounds), 8);
    case 'philox4x64':
      return hex(philox4x64([long(c0), long(c1), long(c2), long(c3)], [long(k0), long(k1)], rounds), 16);
    case 'philox2x64':
      return hex(philox2x64([long(c0), long(c1)], long(k0), rounds), 16);
  }
}

const hex = (words: readonly (number | bigint)[], digits: number) =>
  words.map(word => word.toString(16).padStart(digits, '0'));

describe('the block functions', () => {
  it.each(vectors.map((vector, n) => ({ n, name: `${vector.alg}-${vector.rounds}`, vector })))(
    'answer vector $n, $name ($vector.tag), as Random123 does',
    ({ vector }) => {
      expect(run(vector)).toEqual(vector.out);
    },
  );

  it('run ten rounds unless told otherwise', () => {
    expect(philox4x32([1, 2, 3, 4], [5, 6])).toEqual(philox4x32([1, 2, 3, 4], [5, 6], 10));
    expect(philox2x32([1, 2], 5)).toEqual(philox2x32([1, 2], 5, 10));
    expect(philox4x64([1n, 2n, 3n, 4n], [5n, 6n])).toEqual(philox4x64([1n, 2n, 3n, 4n], [5n, 6n], 10));
    expect(philox2x64([1n, 2n], 5n)).toEqual(philox2x64([1n, 2n], 5n, 10));
  });

  it('accept a one-word key as a number or as an array', () => {
    expect(philox2x32([1, 2], [9])).toEqual(philox2x32([1, 2], 9));
    expect(philox2x64([1n, 2n], [9n])).toEqual(philox2x64([1n, 2n], 9n));
  });

  it('take words modulo their size and return them unsigned', () => {
    expect(philox4x32([-1, 2 ** 32, 0, 0], [-1, 0])).toEqual(
      philox4x32([0xffffffff, 0, 0, 0], [0xffffffff, 0]),
    );
    expect(philox4x64([-1n, 0n, 0n, 0n], [2n ** 64n, 0n])).toEqual(
      philox4x64([2n ** 64n - 1n, 0n, 0n, 0n], [0n, 0n]),
    );
    fc.assert(
      fc.property(fc.tuple(fc.integer(), fc.integer(), fc.integer(), fc.integer()), counter =>
        philox4x32(counter, [1, 2]).every(word => Number.isInteger(word) && word >= 0 && word < 2 ** 32),
      ),
    );
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'three words',
      () => philox4x32([1, 2, 3] as never, [1, 2]),
      /^counter must be 4 words \(numbers\), got \[1, 2, 3\]$/,
    ],
    [
      'no key',
      () => philox4x32([1, 2, 3, 4], undefined as never),
      /^key must be 2 words \(numbers\), got undefined$/,
    ],
    [
      'bigints for numbers',
      () => philox4x32([1n, 2n, 3n, 4n] as never, [1, 2]),
      /^counter .* got \[1n, 2n, 3n, 4n\]$/,
    ],
    [
      'numbers for bigints',
      () => philox4x64([1n, 2n, 3n, 4n], [1, 2] as never),
      /^key must be 2 words \(bigints\)/,
    ],
    ['text', () => philox2x32('ab' as never, 1), /^counter must be 2 words \(numbers\), got "ab"$/],
    ['two keys of one word', () => philox2x64([1n, 2n], [1n, 2n] as never), /^key must be 1 words/],
    ['a negative number of rounds', () => philox4x32([1, 2, 3, 4], [1, 2], -1), /^rounds .* got -1$/],
    ['a billion rounds', () => philox4x32([1, 2, 3, 4], [1, 2], 1e9), /^rounds .* to 1024, got 1000000000$/],
    ['half a round', () => philox2x32([1, 2], 1, 1.5), /^rounds .* got 1.5$/],
  ])('refuse %s', (_, call, message) => {
    expect(call).toThrow(message);
    expect(call).toThrow(InvalidArgumentError);
  });

  it('return the counter after 0 rounds', () => {
    expect(philox4x32([1, 2, 3, 4], [5, 6], 0)).toEqual([1, 2, 3, 4]);
    expect(philox2x32([1, 2], 5, 0)).toEqual([1, 2]);
    expect(philox4x64([1n, 2n, 3n, 4n], [5n, 6n], 0)).toEqual([1n, 2n, 3n, 4n]);
    expect(philox2x64([1n, 2n], 5n, 0)).toEqual([1n, 2n]);
  });

  it('do not change their arguments', () => {
    const counter: [number, number, number, number] = [1, 2, 3, 4];
    const key: [number, number] = [5, 6];
    philox4x32(counter, key);
    expect([counter, key]).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
  });
});
