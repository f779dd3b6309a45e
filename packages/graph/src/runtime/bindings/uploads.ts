import type { Tensor, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/** Host tensors on an engine, each uploaded once. */
export class Uploads<T extends TensorDesc> {
  readonly #engine: TensorEngine<T>;
  readonly #keyOf: (tensor: Tensor) => unknown;
  readonly #tensors = new Map<unknown, { readonly given: TensorDesc; readonly tensor: T }>();

  /**
   * @param keyOf returns the key that tensors with a common upload share: the tensor itself, or its
   * `contents`.
   */
  constructor(engine: TensorEngine<T>, keyOf: (tensor: Tensor) => unknown = tensor => tensor) {
    this.#engine = engine;
    this.#keyOf = keyOf;
  }

  of(given: Tensor): T {
    const key = this.#keyOf(given);
    const known = this.#tensors.get(key) ?? { given, tensor: this.#engine.upload(given) };
    this.#tensors.set(key, known);
    return known.tensor;
  }

  /** Frees the uploads, except tensors that a host engine uses without a copy. */
  release(): void {
    for (const { given, tensor } of this.#tensors.values()) {
      if ((tensor as TensorDesc) !== given) this.#engine.release(tensor);
    }
    this.#tensors.clear();
  }
}

/**
 * The dtype, shape and numbers of a small tensor as a key, so that recorded work has one upload for all equal
 * tensors.
 */
export function contents(tensor: Tensor): string {
  return `${tensor.dtype} [${tensor.shape}] ${tensor.toFloat64().join()}`;
}
