import { bufferUsage } from '../device/constants.ts';

/** The uniform buffers of one kernel's calls. Calls in a row with the same numbers share one. */
export class ParameterBuffers {
  readonly #device: GPUDevice;
  readonly #made: GPUBuffer[] = [];
  #last: { readonly bytes: Uint8Array; readonly binding: GPUBufferBinding } | undefined;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  get(content: ArrayBuffer): GPUBufferBinding {
    const bytes = new Uint8Array(content);
    const last = this.#last;
    if (last?.bytes.every((byte, n) => byte === bytes[n])) return last.binding;
    const buffer = this.#device.createBuffer({
      label: 'tilewise parameters',
      size: bytes.length,
      usage: bufferUsage.UNIFORM,
      mappedAtCreation: true,
    });
    new Uint8Array(buffer.getMappedRange()).set(bytes);
    buffer.unmap();
    this.#made.push(buffer);
    const binding = { buffer };
    this.#last = { bytes, binding };
    return binding;
  }

  /** Destroys all buffers but the newest: those of calls that were submitted. */
  retire(): void {
    for (const buffer of this.#made.splice(0, this.#made.length - 1)) buffer.destroy();
  }

  destroy(): void {
    for (const buffer of this.#made.splice(0)) buffer.destroy();
    this.#last = undefined;
  }
}
