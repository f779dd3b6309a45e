import { TilewiseError } from '@tilewise/core';
import { expect, test } from 'vitest';
import type { ByteRange } from './byte-range.ts';
import { faultOfBytes, noteFailure, touch } from './gpu-work.ts';

const error = new TilewiseError('UNSUPPORTED', 'the device did not compile the kernel');

/** The ranges of a new buffer. */
function rangesOfBuffer(): (from: number, to: number) => ByteRange {
  const buffer = {} as GPUBuffer;
  return (offset, end) => ({ buffer, offset, size: end - offset });
}

test('bytes that are written again have no error, and the bytes around them still do', async () => {
  const bytes = rangesOfBuffer();
  noteFailure([bytes(0, 64)], error);
  touch([], [bytes(16, 32)]);
  expect(await faultOfBytes(bytes(16, 32))).toBe(undefined);
  expect(await faultOfBytes(bytes(12, 20))).toBe(error);
  expect(await faultOfBytes(bytes(32, 36))).toBe(error);
  touch([], [bytes(32, 64)]);
  expect(await faultOfBytes(bytes(16, 64))).toBe(undefined);
  touch([], [bytes(0, 16)]);
  expect(await faultOfBytes(bytes(0, 64))).toBe(undefined);
});

test('an error spreads to results computed from its bytes', async () => {
  const [bytes, others] = [rangesOfBuffer(), rangesOfBuffer()];
  noteFailure([bytes(0, 64)], error);
  touch([bytes(60, 68)], [others(0, 4)]);
  touch([bytes(64, 68)], [others(4, 8)]);
  expect(await faultOfBytes(others(0, 4))).toBe(error);
  expect(await faultOfBytes(others(4, 8))).toBe(undefined);
});
