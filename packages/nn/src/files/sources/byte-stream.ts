import { describeValue, InvalidArgumentError } from '@tilewise/core';

/**
 * A source of bytes: a response of `fetch`, a file in a page or in Node, memory, or any iterable of chunks.
 * The progress of an iterable has a total if the iterable has a property `size`, its number of bytes.
 */
export type ByteSource =
  | Response
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | Iterable<Uint8Array>;

/**
 * Opens bytes `begin` to `end` (exclusive) of a file, for example with a `Range` request, `Blob.slice` or a
 * file position in Node.
 */
export type OpenRange = (begin: number, end: number) => Promise<ByteSource>;

/**
 * The chunks of a source, in order.
 * @throws InvalidArgumentError for a value that is not a source, and for a response that failed or was
 * already read.
 */
export async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array, void, undefined> {
  if (source instanceof Uint8Array) yield source;
  else if (source instanceof ArrayBuffer) yield new Uint8Array(source);
  else if (source instanceof Blob) yield* chunksOfStream(source.stream());
  else if (source instanceof Response) {
    if (!source.ok) throw new InvalidArgumentError('response', `failed with ${source.status} ${source.url}`);
    if (source.bodyUsed) throw new InvalidArgumentError('response', `was already read: ${source.url}`);
    if (source.body) yield* chunksOfStream(source.body);
  } else if (typeof ReadableStream !== 'undefined' && source instanceof ReadableStream) {
    yield* chunksOfStream(source);
  } else if (isIterable(source)) yield* source;
  else
    throw new InvalidArgumentError(
      'source',
      `must be bytes, a File, a Response or a stream, got ${describeValue(source)}`,
    );
}

function isIterable(value: unknown): value is AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  return (
    typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}

/**
 * Reads with a reader, because not every browser can iterate over a stream. Stopping early cancels the
 * stream.
 */
async function* chunksOfStream(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  let finished = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      finished = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!finished) await reader.cancel();
    reader.releaseLock();
  }
}
