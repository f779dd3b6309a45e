import type { GpuTensor } from './gpu-tensor.ts';
import { bytesOf } from './tensor-storage.ts';

/** Reports tensors that were garbage-collected although their memory was not given back. */
export class LeakWatch {
  readonly #registry: FinalizationRegistry<string>;

  constructor(onLeak: (message: string) => void) {
    this.#registry = new FinalizationRegistry(onLeak);
  }

  watch(tensor: GpuTensor): void {
    const { dtype, shape } = tensor;
    const { size } = bytesOf(tensor);
    const message = `a tensor ${dtype} [${shape}] was never destroyed, so its ${size} bytes stay in use: call destroy()`;
    this.#registry.register(tensor, message, tensor);
  }

  forget(tensor: GpuTensor): void {
    this.#registry.unregister(tensor);
  }
}
