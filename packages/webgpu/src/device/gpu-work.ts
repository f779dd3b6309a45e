import type { TilewiseError } from '@tilewise/core';
import { type ByteRange, covers, overlap } from './byte-range.ts';
import { withFaults } from './faults.ts';

// The one rule for uploads, eager calls, plans, what an engine records, and downloads: what goes wrong on the
// GPU stays with the bytes that were to be written, and goes on to whatever is computed from them. Whoever
// reads them is told, each time, until they are written again.

/** The error of some work on the GPU, once it is known. */
export type Fault = Promise<TilewiseError | undefined>;

/** Something that the GPU was given to do. */
interface Work {
  fault: Fault;
  /** Whether it is known that nothing went wrong. */
  isGood: boolean;
}

/** The state of a buffer's bytes: the error that they may carry. */
interface Content {
  /** Its making: where there was no memory, it is no buffer. */
  readonly made?: Work;
  /** The last work on its bytes. */
  written: readonly { readonly range: ByteRange; readonly work: Work }[];
}

interface Touch {
  readonly range: ByteRange;
  readonly isWrite: boolean;
}

const contents = new WeakMap<GPUBuffer, Content>();

/** The reads and writes of the innermost work that is being put together, in order. */
let touches: Touch[] | undefined;

/**
 * Runs synchronous GPU calls as one piece of work, in which `touch` says what they read and write. Where
 * `run` throws, it counts as not done.
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
 * Submits what `record` records as one piece of work. @returns what its result gives once that is submitted.
 */
export function submitWork<R>(
  device: GPUDevice,
  record: (encoder: GPUCommandEncoder) => () => R,
): { result: R; fault: Fault } {
  return gpuWork(device, () => {
    const encoder = device.createCommandEncoder({ label: 'tilewise' });
    const afterwards = record(encoder);
    device.queue.submit([encoder.finish()]);
    return afterwards();
  });
}

/**
 * Says that the GPU reads these bytes, and then writes those. Outside of `gpuWork` that is recorded for the
 * caller, to whom alone the GPU tells what goes wrong with it; what was wrong before still goes on.
 */
export function touch(read: readonly ByteRange[], written: readonly ByteRange[]): void {
  const own = [
    ...read.map(range => ({ range, isWrite: false })),
    ...written.map(range => ({ range, isWrite: true })),
  ];
  if (touches) touches.push(...own);
  else settle(own);
}

/** Says what came of the making of a buffer. */
export function noteMaking(buffer: GPUBuffer, fault: Fault): void {
  contents.set(buffer, { made: followed({ fault, isGood: false }), written: [] });
}

/** Says that a buffer is used anew, whatever it holds. */
export function forgetContent(buffer: GPUBuffer): void {
  const content = contents.get(buffer);
  if (content) content.written = [];
}

/** The error that the bytes in a range carry now. */
export function faultOfBytes(range: ByteRange): Fault {
  return firstFault([...making(range), ...writing(range)]);
}

/** Says that work which was to write these bytes failed before it reached the GPU. */
export function noteFailure(written: readonly ByteRange[], error: unknown): void {
  const fault = Promise.resolve(error as TilewiseError);
  for (const range of written) overwrite(range, { fault, isGood: false });
}

function settle(own: readonly Touch[], fault?: Fault): Fault {
  const work: Work = { fault: Promise.resolve(undefined), isGood: false };
  const causes = new Set<Work>();
  for (const { range, isWrite } of own) {
    for (const cause of making(range)) causes.add(cause);
    if (isWrite) overwrite(range, work);
    else for (const cause of writing(range)) causes.add(cause);
  }
  // What it has written itself by then.
  causes.delete(work);
  work.fault = firstFault([...causes], fault);
  return followed(work).fault;
}

function followed(work: Work): Work {
  work.fault.then(wrong => {
    work.isGood = wrong === undefined;
  });
  return work;
}

function making({ buffer }: ByteRange): Work[] {
  const made = contents.get(buffer)?.made;
  return made && !made.isGood ? [made] : [];
}

function writing(range: ByteRange): Work[] {
  const written = contents.get(range.buffer)?.written ?? [];
  return written.filter(one => !one.work.isGood && overlap(one.range, range)).map(({ work }) => work);
}

function overwrite(range: ByteRange, work: Work): void {
  const content = contents.get(range.buffer) ?? { written: [] };
  const others = content.written.filter(one => !one.work.isGood && !covers(range, one.range));
  content.written = [...others, { range, work }];
  contents.set(range.buffer, content);
}

/** The cause comes first: what was wrong with what work reads makes the work go wrong too. */
function firstFault(causes: readonly Work[], own: Fault = Promise.resolve(undefined)): Fault {
  if (causes.length === 0) return own;
  return Promise.all([...causes.map(({ fault }) => fault), own]).then(all =>
    all.find(wrong => wrong !== undefined),
  );
}
