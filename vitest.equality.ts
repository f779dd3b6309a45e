import { expect } from 'vitest';

// Vitest compares typed arrays number by number, a microsecond or more for each. Those with the same bytes
// are equal in any case; for all others, Vitest decides and lists the differences.
expect.addEqualityTesters([
  (a: unknown, b: unknown): boolean | undefined => {
    if (!(ArrayBuffer.isView(a) && ArrayBuffer.isView(b)) || a.constructor !== b.constructor)
      return undefined;
    return Buffer.compare(bytesOf(a), bytesOf(b)) === 0 || undefined;
  },
]);

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
