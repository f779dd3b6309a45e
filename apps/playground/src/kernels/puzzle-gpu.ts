import { KernelError } from './failure.ts';

/** A promise that is rejected after some milliseconds, and how to stop the clock. */
function timeLimit(ms: number): { readonly over: Promise<never>; readonly stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new KernelError({ kind: 'hung', seconds: ms / 1000 })), ms);
  });
  return { over, stop: () => clearTimeout(timer) };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * A device for the kernels that visitors write, apart from the page's own: such a kernel may hang or lose its
 * device. The device is opened for the first work, and anew for the work after one that hung or was lost.
 */
export class PuzzleGpu {
  readonly #gpu: GPU | undefined;
  readonly #limitMs: number;
  #device: Promise<GPUDevice> | null = null;

  /** `limitMs`: how long one piece of work may take. */
  constructor(gpu: GPU | undefined, limitMs = 15_000) {
    this.#gpu = gpu;
    this.#limitMs = limitMs;
  }

  /**
   * Does some work on the device.
   *
   * @throws KernelError when there is no device, and when the device is lost or not done in time.
   */
  async run<T>(work: (device: GPUDevice) => Promise<T>): Promise<T> {
    const opening = this.#device ?? this.#open();
    this.#device = opening;
    const device = await opening;
    const limit = timeLimit(this.#limitMs);
    const lost = device.lost.then(({ message }) => {
      throw new KernelError({ kind: 'lost', message });
    });
    try {
      return await Promise.race([work(device), lost, limit.over]);
    } catch (error) {
      if (error instanceof KernelError && error.failure.kind === 'hung') this.close();
      throw error;
    } finally {
      limit.stop();
    }
  }

  /** Gives the device back; the next work opens another. */
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
