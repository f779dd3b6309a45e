import { callKey } from '@tilewise/core';
import type { EagerCall } from './eager-call.ts';
import { GpuTensor } from './memory/gpu-tensor.ts';

/** The number of calls that a context remembers. */
const maxCalls = 256;

/**
 * Calls that have been checked, keyed by the names and descriptions of their tensors and by their options.
 */
export class CallMemo {
  readonly #calls = new Map<string, EagerCall<unknown, unknown>>();

  /**
   * The call that `make` makes, or an earlier call with the same key, which passes the same checks. Calls
   * with options other than numbers, strings and booleans are not remembered.
   */
  get<Options, Results>(
    tensors: object,
    options: object,
    make: () => EagerCall<Options, Results>,
  ): EagerCall<Options, Results> {
    const key = callKey(tensors, options, isGpuTensor);
    if (key === null) return make();
    const given = tensors as Readonly<Record<string, unknown>>;
    const known = this.#calls.get(key) as EagerCall<Options, Results> | undefined;
    const made = known ?? make();
    const { operands } = made;
    // Field by field, because a spread takes V8 as long as the rest of this function.
    const on = (of: Readonly<Record<string, unknown>>): EagerCall<Options, Results> => ({
      inLine: made.inLine,
      results: made.results,
      plan: made.plan,
      resultsOf: made.resultsOf,
      // Earlier calls used this string object, so its hash is known.
      key: known?.key ?? key,
      operands: operands.map(([name]) => [name, of[name]]),
      list: made.list,
      options: made.options,
    });
    if (!known) {
      if (!operands.every(([name, tensor]) => given[name] === tensor)) return made;
      if (this.#calls.size >= maxCalls) this.#calls.clear();
      // The entry does not hold the tensors, which would otherwise live as long as the entry.
      this.#calls.set(key, on({}));
    }
    return on(given);
  }
}

const isGpuTensor = (value: unknown): value is GpuTensor => value instanceof GpuTensor;
