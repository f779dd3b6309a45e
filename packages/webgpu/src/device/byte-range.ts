/** A range of bytes of a buffer. */
export interface ByteRange {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
}

export function overlap(a: ByteRange, b: ByteRange): boolean {
  return a.buffer === b.buffer && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

/** Whether a range contains all bytes of another. */
export function covers(a: ByteRange, b: ByteRange): boolean {
  return a.buffer === b.buffer && a.offset <= b.offset && b.offset + b.size <= a.offset + a.size;
}
