import { checkArgument, type Rule } from '../../checks/check-fields.ts';

const chunkRule: Rule = { rule: 'must have chunks of bytes', holds: x => x instanceof Uint8Array };

/** Reads a stream of chunks of any size in pieces of chosen sizes. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** The bytes that have arrived but have not been read yet. */
  #rest: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Fills memory with the next bytes; `truncated` throws if the stream ends early, after `got` bytes. */
  async fill(target: Uint8Array, truncated: (got: number) => never): Promise<void> {
    for (let done = 0; done < target.length; ) {
      if (!(await this.hasMore())) truncated(done);
      const part = this.#rest.subarray(0, target.length - done);
      target.set(part, done);
      done += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
  }

  /** Skips the next bytes. */
  async skip(count: number, truncated: (got: number) => never): Promise<void> {
    for (let done = 0; done < count; ) {
      if (!(await this.hasMore())) truncated(done);
      const length = Math.min(this.#rest.length, count - done);
      done += length;
      this.#rest = this.#rest.subarray(length);
    }
  }

  /** Whether there is another byte. */
  async hasMore(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      checkArgument('source', value, chunkRule);
      this.#rest = value;
    }
    return true;
  }

  /** Cancels the stream, wherever it is. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
