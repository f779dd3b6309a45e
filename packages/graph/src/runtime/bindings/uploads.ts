import type { Tensor, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';

/** Host tensors that are uploaded once each for one execution. */
export class Uploads<T extends TensorDesc> {
  readonly #engine: TensorEngine<T>;
  readonly #tensors = new Map<Tensor, T>();

  constructor(engine: TensorEngine<T>) {
    this.#engine = engine;
  }

  of(tensor: Tensor): T {
    const known = this.#tensors.get(tensor) ?? this.#engine.upload(tensor);
    this.#tensors.set(tensor, known);
    return known;
  }

  /** Frees the uploads, except tensors that a host engine uses as they are. */
  release(): void {
    for (const [given, tensor] of this.#tensors) {
      if ((tensor as TensorDesc) !== given) this.#engine.release(tensor);
    }
    this.#tensors.clear();
  }
}
