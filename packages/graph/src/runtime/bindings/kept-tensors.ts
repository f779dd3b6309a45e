import { bytesSpanned, type Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Uploads } from './uploads.ts';

/**
 * The largest upload and the largest result that are kept for the next run, in bytes. Larger ones would hold
 * much memory.
 */
const MAX_UPLOAD = 2 ** 16;
const MAX_RESULT = 2 ** 20;

/**
 * An engine's tensors for host tensors, by the ids that these are bound to: uploads, which the next run
 * overwrites in place, and results that are read back. Steps find the tensors of the last run and stay bound
 * to them.
 */
export class KeptTensors<T extends TensorDesc> {
  readonly #engine: TensorEngine<T>;
  /** The tensors by id. */
  readonly tensors: Map<number, T> = new Map();

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
      const isKept = this.#engine.overwrite && bytesSpanned(given) <= MAX_UPLOAD;
      if (!isKept) return others.of(given);
      const tensor = done.get(id) ?? this.#uploaded(given, id);
      done.set(id, tensor);
      return tensor;
    };
  }

  #uploaded(given: Tensor, id: number): T {
    const last = this.tensors.get(id);
    if (last && this.#engine.overwrite?.(last, given)) return last;
    const tensor = this.#engine.upload(given);
    // The caller's own tensor, which an engine on the host uses without a copy, must not be overwritten.
    if ((tensor as TensorDesc) === given) return tensor;
    this.tensors.set(id, tensor);
    if (last) this.#engine.release(last);
    return tensor;
  }

  /** Keeps the tensor of a result that has been read back, or releases a large one. */
  keepResult(id: number, tensor: T): void {
    if (bytesSpanned(tensor) > MAX_RESULT) this.#engine.release(tensor);
    else this.tensors.set(id, tensor);
  }

  release(): void {
    for (const tensor of this.tensors.values()) this.#engine.release(tensor);
  }
}
