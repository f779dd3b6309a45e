import { time } from '@tilewise/device-report/measure';
import { fillU32, philox4x32, splitU64, type U32x2, type U32x4, type U64 } from '@tilewise/philox';
import { type Suite, UsageError, WrongResult } from '../suite/suite.ts';

/** Millions of words per second that one core should reach. */
const target = 60;

// Random123's kat_vectors for philox4x32-10: counter, key, output.
const knownAnswers: readonly (readonly [U32x4, U32x2, U32x4])[] = [
  [
    [0, 0, 0, 0],
    [0, 0],
    [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
  ],
  [
    [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    [0xffffffff, 0xffffffff],
    [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
  ],
  [
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    [0xa4093822, 0x299f31d0],
    [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  ],
];

/** Random words on one core of the CPU. */
export const philox: Suite = {
  name: 'philox',
  summary: 'Philox4x32-10 into an array, on one core',
  options: { words: { value: 'N', meaning: 'fill an array of N words; default 4194304' } },
  async run(options, progress) {
    const words = Number(options.words ?? 2 ** 22);
    if (!Number.isSafeInteger(words) || words < 4)
      throw new UsageError(`--words must be a whole number of at least 4, got '${options.words}'.`);
    progress('checking');
    const out = new Uint32Array(words);
    const seed = 0x299f31d0a4093822n;
    fillU32(out, { seed });
    checkBlocks();
    checkStream(out, splitU64(seed));
    progress(`filling ${words} words`);
    const { median, min, repeats } = await time(() => fillU32(out, { seed }), { warmUp: 3, repeats: 9 });
    return [
      {
        ...{ function: 'fillU32', words, 'median ms': median, 'min ms': min, repeats },
        ...{ 'M u32/s': words / median / 1000, target },
      },
    ];
  },
};

function checkBlocks(): void {
  for (const [counter, key, expected] of knownAnswers) {
    const got = philox4x32(counter, key);
    if (got.join() !== expected.join())
      throw new WrongResult(`philox4x32 of counter ${counter} and key ${key} is ${got}, not ${expected}`);
  }
}

/** Blocks spread over the whole array, including the first and the last. */
function checkStream(out: Uint32Array, [k0, k1]: U64): void {
  const blocks = out.length / 4;
  for (let n = 0; n < 1000; n++) {
    const block = Math.floor((n * (blocks - 1)) / 999);
    const got = out.subarray(4 * block, 4 * block + 4);
    const expected = philox4x32([block, 0, 0, 0], [k0, k1]);
    if (got.join() !== expected.join())
      throw new WrongResult(`block ${block} of fillU32 is ${got}, not ${expected}`);
  }
}
