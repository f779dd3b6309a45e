import { multiply, subtract, type Variable, valueAndGrad } from '@tilewise/graph/ops';
import { checkFields } from '../../checks/check-fields.ts';
import { fromZero, required, texts } from '../../checks/rules.ts';

type Named = Readonly<Record<string, Variable>>;

/** The results of a step of SGD: the loss before the step, and the parameters after it. */
export interface SgdStep<K extends string = string> {
  /** The loss, of shape []. */
  readonly loss: Variable;
  /** The parameters by name, in their own shapes. */
  readonly parameters: { readonly [N in K]: Variable };
}

/**
 * A step of stochastic gradient descent as a function that can be compiled: each parameter p becomes
 * p − rate·∂loss/∂p.
 * @param loss returns the loss, of shape [], from named variables.
 * @param options `by`: which of these variables are parameters; `rate`: the learning rate.
 * @throws InvalidArgumentError for invalid options.
 */
export function sgd<S extends Named, K extends keyof S & string>(
  loss: (inputs: S) => Variable,
  options: { readonly by: readonly K[]; readonly rate: number },
): (inputs: S) => SgdStep<K> {
  checkFields('options', options, { by: required(texts), rate: required(fromZero) });
  const { by, rate } = options;
  const both = valueAndGrad(loss, by);
  return inputs => {
    const { value, gradients } = both(inputs);
    const moved = by.map(name => [name, subtract(inputs[name], multiply(gradients[name], rate))] as const);
    return { loss: value, parameters: Object.fromEntries(moved) as SgdStep<K>['parameters'] };
  };
}
