import { CallTree } from '@tilewise/core';
import type { CallForm, EagerCall } from './eager-call.ts';
import { GpuTensor } from './memory/gpu-tensor.ts';

/** Remembers the forms of calls that have been checked. */
export class CallMemo {
  readonly #forms = new CallTree<CallForm<unknown, unknown>>(isGpuTensor);

  /**
   * The call that `make` makes, or one with the form of an earlier call that passes the same checks. Calls
   * with options other than numbers, strings and booleans are not remembered.
   */
  get<Options, Results>(
    tensors: object,
    options: object,
    make: () => EagerCall<Options, Results>,
  ): EagerCall<Options, Results> {
    const entry = this.#forms.entry(tensors, options);
    const given = tensors as Readonly<Record<string, unknown>>;
    const known = entry?.value as CallForm<Options, Results> | undefined;
    if (known) return { form: known, tensors: known.operands.map(name => given[name]) };
    const made = make();
    // Some operands are made from options, such as the slopes of ALiBi; such a call is not remembered.
    const isGiven = made.form.operands.every((name, n) => given[name] === made.tensors[n]);
    if (entry && isGiven) entry.value = made.form as CallForm<unknown, unknown>;
    return made;
  }
}

const isGpuTensor = (value: unknown): value is GpuTensor => value instanceof GpuTensor;
