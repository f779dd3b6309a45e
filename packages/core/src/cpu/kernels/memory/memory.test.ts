import { expect, test } from 'vitest';
import { createEngineKernels } from '../engine-kernels.ts';
import { typescriptKernels } from '../typescript/typescript-kernels.ts';
import { createMemory } from './memory.ts';

test('panels that fit are allocated above the base, even if earlier chunks cannot be joined', () => {
  const base = 4096;
  let most = 2 ** 21;
  const initial = new ArrayBuffer(2 ** 20);
  let { byteLength } = initial;
  const grow = (bytes: number): ArrayBuffer => {
    if (byteLength + bytes > most) throw new RangeError('no more memory');
    byteLength += bytes;
    return new ArrayBuffer(byteLength);
  };
  const memory = createMemory({ buffer: initial, grow, staysInPlace: true }, base);
  // Two chunks, with kept storage between them, cannot become one chunk without growing.
  memory.scratch(2 ** 16);
  expect(memory.keep(2 ** 19)).not.toBeNull();
  memory.scratch(2 ** 17);
  most = byteLength;
  memory.reset();
  expect(memory.scratch(2 ** 16).at).toBeGreaterThanOrEqual(base);
});

test('the kernels in TypeScript refuse memory that they cannot address', () => {
  const outOfMemory = expect.objectContaining({ code: 'OUT_OF_MEMORY' });
  expect(() => typescriptKernels().memory.scratch(2 ** 29)).toThrow(outOfMemory);
});

test('the kernels in WebAssembly have memory up to, and not including, the last page of 32-bit addresses', () => {
  const { memory } = createEngineKernels('wasm-simd');
  const page = 2 ** 16;
  let pages = 2 ** 16;
  while (!memory.keep(pages * page)) pages--;
  // The address after a tensor is not 0.
  expect(memory.bytes).toBe(2 ** 32 - page);
  // The error says that the memory is full, not only that a number of bytes is missing.
  expect(() => memory.scratch(2 ** 20)).toThrow(
    'the CPU engine has 4294901760 bytes, of at most 4 GiB, and cannot allocate another 4194304',
  );
});
