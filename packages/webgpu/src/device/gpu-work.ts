import type { TilewiseError } from '@tilewise/core';
import type { ByteRange } from './byte-range.ts';
import { withFaults } from './faults.ts';

// The one rule for uploads, eager calls, plans, the work of an engine, and downloads: an error on the GPU
// stays with the bytes that the failed work should have written, and spreads to everything computed from
// them. Every read of these bytes reports the error until they are written again.

/** The error of some GPU work, once it is known. */
export type Fault = Promise<TilewiseError | undefined>;

/** A piece of work that was given to the GPU. */
interface Work {
  fault: Fault;
  /** Whether the work succeeded, once this is known. */
  isGood?: boolean;
}

/** The state of a buffer's bytes: the errors that they may carry. */
interface Content {
  /** The allocation of the buffer, which is invalid if there was no memory for it. */
  readonly made?: Work | undefined;
  readonly written: readonly Written[];
}

/** Bytes `begin` to `end` (exclusive) of a buffer, and the last work that wrote them. */
interface Written {
  readonly begin: number;
  readonly end: number;
  readonly work: Work;
}

/** Ranges that work reads, and then ranges that it writes. */
interface Touch {
  readonly read: readonly ByteRange[];
  readonly written: readonly ByteRange[];
}

const noFault: Fault = Promise.resolve(undefined);

const contents = new WeakMap<GPUBuffer, Content>();

/** The reads and writes of the innermost work that is being recorded, in order. */
let touches: Touch[] | undefined;

/**
 * Runs synchronous GPU calls as one piece of work; `touch` declares what they read and write. If `run`
 * throws, the work counts as not done.
 */
export function gpuWork<R>(device: GPUDevice, run: () => R): { result: R; fault: Fault } {
  const outer = touches;
  const own: Touch[] = [];
  touches = own;
  try {
    const { result, fault } = withFaults(device, run);
    return { result, fault: settle(own, fault) };
  } finally {
    touches = outer;
  }
}

/**
 * Submits what `record` records as one piece of work. Returns the result of the function that `record`
 * returns, which is called after the submission.
 */
export function submitWork<R>(
  device: GPUDevice,
  record: (encoder: GPUCommandEncoder) => () => R,
): { result: R; fault: Fault } {
  return gpuWork(device, () => {
    const encoder = device.createCommandEncoder();
    const afterwards = record(encoder);
    device.queue.submit([encoder.finish()]);
    return afterwards();
  });
}

/**
 * Declares that the GPU reads some byte ranges and then writes others. Outside `gpuWork`, the work is
 * recorded for the caller, and the GPU reports its errors to the caller alone; errors of the bytes that are
 * read still spread.
 */
export function touch(read: readonly ByteRange[], written: readonly ByteRange[]): void {
  const own = { read, written };
  if (touches) touches.push(own);
  else settle([own]);
}

/** Notes the outcome of a buffer's allocation. */
export function noteAllocation(buffer: GPUBuffer, fault: Fault): void {
  contents.set(buffer, { made: followed({ fault }), written: [] });
}

/** Notes that a buffer is reused with undefined content, which clears the errors of its bytes. */
export function forgetContent(buffer: GPUBuffer): void {
  contents.set(buffer, { made: contents.get(buffer)?.made, written: [] });
}

/** Whether the allocation of a buffer is known to have failed. */
export function isLost(buffer: GPUBuffer): boolean {
  return contents.get(buffer)?.made?.isGood === false;
}

/** The error that the bytes in a range carry now. */
export function faultOfBytes(range: ByteRange): Fault {
  const causes = new Set<Work>();
  addCauses(range, causes);
  return firstFault(causes);
}

/** Notes that the work which should have written these bytes failed before it reached the GPU. */
export function noteFailure(written: readonly ByteRange[], error: unknown): void {
  const fault = Promise.resolve(error as TilewiseError);
  for (const range of written) overwrite(range, { fault });
}

function settle(own: readonly Touch[], fault?: Fault): Fault {
  const work: Work = { fault: noFault };
  const causes = new Set<Work>();
  for (const { read, written } of own) {
    for (const range of read) addCauses(range, causes);
    for (const range of written) overwrite(range, work, causes);
  }
  // Ranges that this work wrote itself before it read them.
  causes.delete(work);
  work.fault = firstFault(causes, fault);
  return followed(work).fault;
}

function followed(work: Work): Work {
  work.fault.then(wrong => {
    work.isGood = !wrong;
  });
  return work;
}

/** Adds the work whose errors the bytes in a range may carry. */
function addCauses({ buffer, offset, size }: ByteRange, causes: Set<Work>): void {
  const { made, written = [] } = contents.get(buffer) ?? {};
  if (made && !made.isGood) causes.add(made);
  for (const { begin, end, work } of written)
    if (!work.isGood && begin < offset + size && offset < end) causes.add(work);
}

/**
 * Notes that work writes a range, and adds the buffer's allocation unless it is known to have succeeded. Of
 * earlier work that may have failed, only the bytes outside of the range remain.
 */
function overwrite({ buffer, offset, size }: ByteRange, work: Work, causes?: Set<Work>): void {
  const { made, written: before = [] } = contents.get(buffer) ?? {};
  if (made && !made.isGood) causes?.add(made);
  const end = offset + size;
  const written: Written[] = [{ begin: offset, end, work }];
  for (const earlier of before) {
    if (earlier.work.isGood) continue;
    if (earlier.begin < offset) written.push({ ...earlier, end: Math.min(earlier.end, offset) });
    if (earlier.end > end) written.push({ ...earlier, begin: Math.max(earlier.begin, end) });
  }
  contents.set(buffer, { made, written });
}

/** The causes come first: an error in the bytes that work reads makes the work fail too. */
function firstFault(causes: ReadonlySet<Work>, own = noFault): Fault {
  if (causes.size === 0) return own;
  const faults = Array.from(causes, ({ fault }) => fault);
  return Promise.all([...faults, own]).then(all => all.find(wrong => wrong));
}
