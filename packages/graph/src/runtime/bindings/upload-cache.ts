import type { Tensor, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/**
 * Small host tensors on an engine, each uploaded once: what is recorded with them may be submitted at any
 * time, so they stay until all are released.
 */
export class UploadCache<T extends TensorDesc> {
  readonly #engine: TensorEngine<T>;
  readonly #tensors = new Map<string, T>();

  constructor(engine: TensorEngine<T>) {
    this.#engine = engine;
  }

  /** A tensor of these numbers, dtype and shape. */
  of(tensor: Tensor): T {
    const { dtype, shape } = tensor;
    const key = `${dtype} [${shape}] ${tensor.toFloat64().join()}`;
    const known = this.#tensors.get(key) ?? this.#engine.upload(tensor);
    this.#tensors.set(key, known);
    return known;
  }

  release(): void {
    for (const tensor of this.#tensors.values()) this.#engine.release(tensor);
    this.#tensors.clear();
  }
}
