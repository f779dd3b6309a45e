import type { Tensor, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/**
 * Small host tensors on an engine, each uploaded once. Recorded work may be submitted at any time, so they
 * stay until `release`.
 */
export class UploadCache<T extends TensorDesc> {
  readonly #engine: TensorEngine<T>;
  readonly #tensors = new Map<string, T>();

  constructor(engine: TensorEngine<T>) {
    this.#engine = engine;
  }

  /** The engine tensor with the numbers, dtype and shape of a host tensor. */
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
