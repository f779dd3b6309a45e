import { InvalidShapeError } from '@tilewise/core';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import { differentiate } from '../../passes/gradient/differentiate.ts';
import { traceOf } from './operation-call.ts';
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
    {
      targets: [loss.tensor],
      withRespectTo: by.map(({ tensor }) => tensor),
      given: {
        has: id => topology.tensors.has(id) && !trace.recomputed.has(id) && !isCastInput(topology, id),
      },
    },
    { target: trace.graph, seeds, results },
  );
  for (const seed of seeds.values()) trace.bindConstant(seed, 1);
  return by.map(({ tensor, shape }) => {
    const gradient = results.get(tensor.id);
    if (!gradient) throw new Error('differentiate gives every gradient that it is asked for');
    return new Variable(trace, gradient, shape);
  });
}

/** Whether a tensor is an input in another dtype: the weights of a model are not kept a second time. */
function isCastInput(topology: Topology, id: number): boolean {
  const producer = topology.producers.get(id);
  return producer?.kind === 'TypeCast' && !topology.producers.has(producer.inputs[0].id);
}

/**
 * Calls a function whose operations `gradientsOf` does not keep results of: the backward pass computes them
 * again from what the function was given, so that they take memory only while the pass is there (Chen et al.
 * 2016, Training Deep Nets with Sublinear Memory Cost). What the function returns is kept.
 */
export function recompute(fn: () => Variable): Variable {
  const first = traceOf('recompute', []).graph.nodes.length;
  const result = fn();
  const { graph, recomputed } = result.trace;
  for (const { outputs } of graph.nodes.slice(first))
    for (const { id } of outputs) if (id !== result.tensor.id) recomputed.add(id);
  return result;
}
