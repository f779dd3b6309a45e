import {
  checkFunction,
  describeValue,
  InvalidArgumentError,
  InvalidShapeError,
  listText,
} from '@tilewise/core';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import { differentiate } from '../../passes/gradient/differentiate.ts';
import { forwardAttentions } from '../../passes/gradient/forward-attention.ts';
import { traceOf } from './operation-call.ts';
import { checkVariable, Variable } from './trace.ts';

/** Named variables. */
type Named = Readonly<Record<string, Variable>>;

/**
 * Returns a function that computes the value of `fn` and its gradients with respect to its arguments, in one
 * graph.
 * @param fn returns one number, the loss, or an object with the field `loss` and others.
 * @param by the names of the arguments to differentiate with respect to. Default: all. The loss must depend
 * on each of them, and integers, such as token ids, have no gradient.
 */
export function valueAndGrad<
  S extends Named,
  R extends Variable | { readonly loss: Variable },
  K extends keyof S & string,
>(
  fn: (inputs: S) => R,
  by?: readonly K[],
): (inputs: S) => { readonly value: R; readonly gradients: { readonly [N in K]: Variable } } {
  checkFunction('fn', fn);
  return inputs => {
    const value = fn(inputs);
    const loss = value instanceof Variable ? value : value?.loss;
    const names = by ?? (Object.keys(inputs) as K[]);
    checkArguments(names, inputs);
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

function checkArguments(names: unknown, inputs: Named): void {
  const known = Object.keys(inputs);
  if (Array.isArray(names) && names.every(name => known.includes(name))) return;
  throw new InvalidArgumentError(
    'by',
    `must be an array of names among ${known.join(', ')}, got ${listText(names)}`,
  );
}

/** Returns a function that computes only the gradients, like `valueAndGrad`. */
export function grad<S extends Named, K extends keyof S & string>(
  fn: (inputs: S) => Variable,
  by?: readonly K[],
): (inputs: S) => { readonly [N in K]: Variable } {
  const both = valueAndGrad(fn, by);
  return inputs => both(inputs).gradients;
}

/**
 * The gradients of a number with respect to variables that it depends on, added to the same graph.
 * @throws InvalidShapeError if the loss is not one number; InvalidGraphError for an operation without a
 * gradient.
 */
export function gradientsOf(loss: Variable, by: readonly Variable[]): readonly Variable[] {
  checkVariable('loss', loss, loss?.trace);
  if (loss.shape.length > 0)
    throw new InvalidShapeError('loss', `must be one number, of shape [], got [${loss.shape}]`);
  const { trace } = loss;
  if (!Array.isArray(by))
    throw new InvalidArgumentError('by', `must be an array of variables, got ${describeValue(by)}`);
  for (const variable of by) checkVariable('by', variable, trace);
  const topology = trace.topology();
  // The backward pass of attention recomputes the scores from the stats, so that none of S×S are stored.
  const attentions = forwardAttentions(topology, { has: () => true });
  for (const { nodes } of attentions.values()) {
    for (const { outputs } of nodes) {
      const [first, stats] = outputs;
      if (!attentions.has(first.id)) trace.recomputed.add(first.id);
      if (stats) trace.recomputed.delete(stats.id);
    }
  }
  const seeds = new Map<number, LogicalTensor>();
  const results = new Map<number, LogicalTensor>();
  differentiate(
    topology,
    {
      targets: [loss.tensor],
      withRespectTo: by.map(({ tensor }) => tensor),
      argument: 'by',
      given: {
        has: id => topology.tensors.has(id) && !trace.recomputed.has(id) && !isCastInput(topology, id),
      },
    },
    { target: trace.graph, isForward: true, seeds, results },
  );
  for (const seed of seeds.values()) trace.bindConstant(seed, 1);
  return by.map(({ tensor, shape }) => new Variable(trace, results.get(tensor.id) as LogicalTensor, shape));
}

/**
 * Whether a tensor is an input cast to another dtype. Such a tensor is cast again, so that a model's weights
 * are not stored twice.
 */
function isCastInput(topology: Topology, id: number): boolean {
  const producer = topology.producers.get(id);
  return producer?.kind === 'TypeCast' && !topology.producers.has(producer.inputs[0].id);
}

/**
 * Calls a function whose intermediate results are not stored for `gradientsOf`. The backward pass recomputes
 * them from the function's inputs, so they take memory only while the backward pass reaches them (Chen et al.
 * 2016, Training Deep Nets with Sublinear Memory Cost). The function's result is stored.
 */
export function recompute(fn: () => Variable): Variable {
  checkFunction('fn', fn);
  const trace = traceOf('recompute', []);
  const { graph, recomputed } = trace;
  const first = graph.nodes.length;
  const result = fn();
  checkVariable('the result of fn', result, trace);
  for (const { outputs } of graph.nodes.slice(first))
    for (const { id } of outputs) if (id !== result.tensor.id) recomputed.add(id);
  return result;
}
