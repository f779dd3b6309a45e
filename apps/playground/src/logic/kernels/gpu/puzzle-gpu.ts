import { type Failure, KernelError } from './failure.ts';

/** Waits for the first of some promises, and rejects if none settles in time. */
async function within<T>(ms: number, failure: Failure, promises: readonly Promise<T>[]): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new KernelError(failure)), ms);
  });
  try {
    return await Promise.race([...promises, over]);
  } finally {
    clearTimeout(timer);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * A device for the kernels that visitors write, separate from the page's own device, because such a kernel
 * may hang or lose its device. The device is opened for the first piece of work, and a new one after work
 * that hung or lost its device.
 */
export class PuzzleGpu {
  readonly #gpu: GPU | undefined;
  readonly #limitMs: number;
  #device: Promise<GPUDevice> | null = null;

  /** @param limitMs how long one piece of work may take. */
  constructor(gpu: GPU | undefined, limitMs = 15_000) {
    this.#gpu = gpu;
    this.#limitMs = limitMs;
  }

  /**
   * Runs some work on the device.
   *
   * @throws KernelError if there is no device, if the device is lost, or if the work takes too long.
   */
  async run<T>(work: (device: GPUDevice) => Promise<T>): Promise<T> {
    const opening = this.#device ?? this.#open();
    this.#device = opening;
    try {
      const device = await within(this.#limitMs, { kind: 'busy' }, [opening]);
      const lost = device.lost.then(({ message }): never => {
        throw new KernelError({ kind: 'lost', message });
      });
      const seconds = this.#limitMs / 1000;
      return await within(this.#limitMs, { kind: 'hung', seconds }, [work(device), lost]);
    } catch (error) {
      if (error instanceof KernelError && ['hung', 'busy'].includes(error.failure.kind)) this.close();
      throw error;
    }
  }

  /** Destroys the device; the next piece of work opens another. */
  close(): void {
    this.#device?.then(device => device.destroy()).catch(() => {});
    this.#device = null;
  }

  async #open(): Promise<GPUDevice> {
    try {
      if (!this.#gpu) throw new KernelError({ kind: 'no-webgpu' });
      const adapter = await this.#gpu.requestAdapter();
      if (!adapter) throw new KernelError({ kind: 'no-adapter', message: '' });
      const clock = adapter.features.has('timestamp-query');
      const device = await adapter.requestDevice({ requiredFeatures: clock ? ['timestamp-query'] : [] });
      device.lost.then(() => {
        this.#device = null;
      });
      return device;
    } catch (error) {
      this.#device = null;
      throw error instanceof KernelError
        ? error
        : new KernelError({ kind: 'no-adapter', message: messageOf(error) });
    }
  }
}
