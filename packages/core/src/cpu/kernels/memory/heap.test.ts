import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHeap } from './heap.ts';

function growing(most = Infinity) {
  let size = 256;
  const heap = createHeap(10, size, bytes => {
    if (size + bytes > most) throw new RangeError('full');
    size += bytes;
    return size;
  });
  return { heap, size: () => size };
}

test('allocated blocks never overlap, begin at multiples of 64, and are inside the memory', () => {
  const steps = fc.array(fc.tuple(fc.nat(300), fc.boolean(), fc.nat()), { maxLength: 60 });
  fc.assert(
    fc.property(steps, all => {
      const { heap, size } = growing();
      const blocks: { at: number; bytes: number }[] = [];
      for (const [bytes, frees, which] of all) {
        if (frees && blocks.length > 0) {
          const [gone] = blocks.splice(which % blocks.length, 1);
          heap.free(gone.at);
        } else blocks.push({ at: heap.allocate(bytes), bytes });
        const sorted = [...blocks].sort((a, b) => a.at - b.at);
        sorted.forEach((block, n) => {
          expect(block.at % 64).toBe(0);
          expect(block.at).toBeGreaterThanOrEqual(10);
          expect(block.at + block.bytes).toBeLessThanOrEqual(sorted[n + 1]?.at ?? size());
        });
      }
      for (const { at } of blocks) heap.free(at);
      expect(heap.used).toBe(0);
    }),
  );
});

test('a freed block joins its neighbours, so that a larger block fits without growing', () => {
  const { heap, size } = growing();
  const blocks = [100, 100, 100].map(bytes => heap.allocate(bytes));
  const before = size();
  for (const at of [blocks[1], blocks[0], blocks[2]]) heap.free(at);
  heap.allocate(300);
  expect(size()).toBe(before);
});

test('a block that does not fit leaves the heap unchanged', () => {
  const { heap } = growing(1024);
  heap.allocate(200);
  const { used } = heap;
  expect(() => heap.allocate(2000)).toThrow(RangeError);
  expect(heap.used).toBe(used);
  expect(heap.allocate(500)).toBeGreaterThan(0);
});

test('an address without a block is ignored', () => {
  const { heap } = growing();
  const at = heap.allocate(10);
  heap.free(at);
  heap.free(at);
  expect(heap.used).toBe(0);
});
