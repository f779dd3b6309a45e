import { CallTree } from '@tilewise/core/engine';
import type { CallTemplate, EagerCall } from './eager-call.ts';
import { GpuTensor } from './memory/gpu-tensor.ts';

/** Remembers the templates of calls that have been checked. */
export class CallMemo {
  readonly #templates = new CallTree<CallTemplate<unknown, unknown>>(isGpuTensor);

  /**
   * The call that `make` makes, or one with the template of an earlier call that passes the same checks.
   * Calls whose options hold objects are not remembered.
   */
  get<Options, Results>(
    tensors: object,
    options: object,
    make: () => EagerCall<Options, Results>,
  ): EagerCall<Options, Results> {
    const entry = this.#templates.entry(tensors, options);
    const given = tensors as Readonly<Record<string, unknown>>;
    const known = entry?.value as CallTemplate<Options, Results> | undefined;
    if (known) return { template: known, tensors: known.operands.map(name => given[name]) };
    const made = make();
    // Some operands are made from options, such as the slopes of ALiBi; such a call is not remembered.
    const isGiven = made.template.operands.every((name, n) => given[name] === made.tensors[n]);
    if (entry && isGiven) entry.value = made.template as CallTemplate<unknown, unknown>;
    return made;
  }
}

const isGpuTensor = (value: unknown): value is GpuTensor => value instanceof GpuTensor;
