import type { GpuMemory } from '../memory/gpu-memory.ts';

/** The uniform buffers of one kernel's calls. Consecutive calls with the same numbers share one buffer. */
export class ParameterBuffers {
  readonly #ctx: GpuMemory;
  readonly #made: GPUBuffer[] = [];
  #last: { readonly bytes: Uint8Array; readonly binding: GPUBufferBinding } | undefined;

  constructor(ctx: GpuMemory) {
    this.#ctx = ctx;
  }

  /** The buffer of the last call. */
  get newest(): GPUBufferBinding | undefined {
    return this.#last?.binding;
  }

  get(content: ArrayBuffer): GPUBufferBinding {
    const bytes = new Uint8Array(content);
    const last = this.#last;
    if (last?.bytes.every((byte, n) => byte === bytes[n])) return last.binding;
    const buffer = this.#ctx.takeUniform(bytes);
    this.#made.push(buffer);
    const binding = { buffer };
    this.#last = { bytes, binding };
    return binding;
  }

  /** Destroys all buffers but the newest. The calls that use them must have been submitted. */
  retire(): void {
    if (this.#made.length < 2) return;
    for (const buffer of this.#made.splice(0, this.#made.length - 1)) this.#ctx.discard(buffer);
  }

  destroy(): void {
    for (const buffer of this.#made.splice(0)) this.#ctx.discard(buffer);
    this.#last = undefined;
  }
}
