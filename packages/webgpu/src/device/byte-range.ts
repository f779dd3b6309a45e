/** A range of bytes of a buffer. */
export interface ByteRange {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
}

export function overlap(a: ByteRange, b: ByteRange): boolean {
  return a.buffer === b.buffer && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}
