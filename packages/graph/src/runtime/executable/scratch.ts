import { dtypeInfo, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/** Scratch memory that the steps share. */
export class Scratch<T extends TensorDesc> {
  readonly #engine: TensorEngine<T>;
  /** The last tensor is the current one; recorded and bound work may still use earlier ones. */
  readonly #made: T[] = [];
  bytes = 0;

  constructor(engine: TensorEngine<T>) {
    this.#engine = engine;
  }

  /** The memory, grown if necessary; undefined for 0 bytes. */
  atLeast(bytes: number): T | undefined {
    if (bytes > this.bytes) {
      const length = Math.ceil(bytes / dtypeInfo.u32.bytes);
      this.#made.push(this.#engine.primitives.allocate({ dtype: 'u32', shape: [length] }));
      this.bytes = length * dtypeInfo.u32.bytes;
    }
    return bytes > 0 ? this.#made.at(-1) : undefined;
  }

  /** Whether the engine had no memory for a tensor. */
  isLost(): boolean {
    return this.#made.some(t => this.#engine.primitives.isLost?.(t));
  }

  release(): void {
    for (const t of this.#made.splice(0)) this.#engine.release(t);
    this.bytes = 0;
  }
}
