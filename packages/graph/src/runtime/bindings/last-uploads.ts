import { bytesSpanned, type Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Uploads } from './uploads.ts';

/** The largest upload that is kept for the next run, in bytes. Larger ones would hold much memory. */
const MAX_BYTES = 2 ** 16;

/**
 * Uploads of host tensors by the ids that they are bound to. The next run overwrites small ones in place, so
 * that steps find the tensors of the last run and stay bound to them.
 */
export class LastUploads<T extends TensorDesc> {
  readonly #engine: TensorEngine<T>;
  readonly #kept = new Map<number, T>();

  constructor(engine: TensorEngine<T>) {
    this.#engine = engine;
  }

  /**
   * Begins a run.
   * @param others the uploads of tensors that are too large to keep.
   * @returns a function that uploads the tensor for an id, once per run.
   */
  begin(others: Uploads<T>): (given: Tensor, id: number) => T {
    const done = new Map<number, T>();
    return (given, id) => {
      const isKept = this.#engine.overwrite && bytesSpanned(given) <= MAX_BYTES;
      if (!isKept) return others.of(given);
      const tensor = done.get(id) ?? this.#uploaded(given, id);
      done.set(id, tensor);
      return tensor;
    };
  }

  #uploaded(given: Tensor, id: number): T {
    const last = this.#kept.get(id);
    if (last && this.#engine.overwrite?.(last, given)) return last;
    const tensor = this.#engine.upload(given);
    // The caller's own tensor, which an engine on the host uses without a copy, must not be overwritten.
    if ((tensor as TensorDesc) === given) return tensor;
    this.#kept.set(id, tensor);
    if (last) this.#engine.release(last);
    return tensor;
  }

  release(): void {
    for (const tensor of this.#kept.values()) this.#engine.release(tensor);
    this.#kept.clear();
  }
}
