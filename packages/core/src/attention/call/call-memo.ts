import { checkStorage } from '../../tensor/checks/check-storage.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { CallTree } from './call-tree.ts';

/** A checked call: the problem and its operands. */
interface Call<P, O> {
  readonly problem: P;
  readonly operands: O;
}

/** Remembers the problems of calls on the host that have been checked. */
export interface CallMemo<P> {
  /**
   * The call that `make` returns. If an earlier call had equal tensor descriptions and equal options, so that
   * the same rules hold, returns that call's problem without calling `make`.
   * @throws the errors of `make`; InvalidArgumentError for a tensor that has lost its storage.
   */
  get<I extends object, O extends object>(
    inputs: I,
    options: object | undefined,
    make: () => Call<P, O>,
  ): Call<P, I | O>;
}

export function createCallMemo<P>(): CallMemo<P> {
  const problems = new CallTree<P>(isHostTensor);
  return {
    get(inputs, options, make) {
      const entry = problems.entry(inputs, options);
      if (entry?.value !== undefined) {
        checkStorage(inputs, '', 0);
        return { problem: entry.value, operands: inputs };
      }
      const made = make();
      const given = inputs as Readonly<Record<string, unknown>>;
      // Some operands are made from options, such as the slopes of ALiBi; such a call is not remembered.
      const isGiven = Object.entries(made.operands).every(([name, operand]) => given[name] === operand);
      if (entry && isGiven) entry.value = made.problem;
      return made;
    },
  };
}

const isHostTensor = (value: unknown): value is Tensor => value instanceof Tensor;
