import { InvalidShapeError } from '@tilewise/core';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { differentiate } from '../../passes/gradient/differentiate.ts';
import { Variable } from './trace.ts';

/** Named variables. */
type Named = Readonly<Record<string, Variable>>;

/**
 * A function that gives the value of another one and its gradients by its arguments, in one graph.
 * @param fn gives one number, a loss, or an object with a field `loss` and more.
 * @param by the names of the arguments that are differentiated by; all of them unless given.
 */
export function valueAndGrad<
  S extends Named,
  R extends Variable | { readonly loss: Variable },
  K extends keyof S & string,
>(
  fn: (inputs: S) => R,
  by?: readonly K[],
): (inputs: S) => { readonly value: R; readonly gradients: { readonly [N in K]: Variable } } {
  return inputs => {
    const value = fn(inputs);
    const loss = value instanceof Variable ? value : value.loss;
    const names = by ?? (Object.keys(inputs) as K[]);
    const gradients = gradientsOf(
      loss,
      names.map(name => inputs[name]),
    );
    return {
      value,
      gradients: Object.fromEntries(names.map((name, n) => [name, gradients[n]])) as { [N in K]: Variable },
    };
  };
}

/** A function that gives the gradients of another one by its arguments, as `valueAndGrad`. */
export function grad<S extends Named, K extends keyof S & string>(
  fn: (inputs: S) => Variable,
  by?: readonly K[],
): (inputs: S) => { readonly [N in K]: Variable } {
  const both = valueAndGrad(fn, by);
  return inputs => both(inputs).gradients;
}

/**
 * The gradients of a number by variables that it depends on, written behind it into the same graph.
 * @throws InvalidShapeError for a loss of more than one number; InvalidGraphError for an operation without a
 * gradient.
 */
export function gradientsOf(loss: Variable, by: readonly Variable[]): readonly Variable[] {
  if (loss.shape.length > 0)
    throw new InvalidShapeError('loss', `must be one number, of shape [], got [${loss.shape}]`);
  const { trace } = loss;
  const topology = trace.topology();
  const seeds = new Map<number, LogicalTensor>();
  const results = new Map<number, LogicalTensor>();
  differentiate(
    topology,
    { targets: [loss.tensor], withRespectTo: by.map(({ tensor }) => tensor), given: topology.tensors },
    { target: trace.graph, seeds, results },
  );
  for (const seed of seeds.values()) trace.bindConstant(seed, 1);
  return by.map(({ tensor, shape }) => {
    const gradient = results.get(tensor.id);
    if (!gradient) throw new Error('differentiate gives every gradient that it is asked for');
    return new Variable(trace, gradient, shape);
  });
}
