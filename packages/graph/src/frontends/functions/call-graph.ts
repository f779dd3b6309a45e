import { checkObject, InvalidArgumentError } from '@tilewise/core';
import type { Graph } from '../../graph.ts';
import type { GraphNode } from '../../ir/node.ts';
import { traceOf } from './operation-call.ts';
import { type Operand, Variable } from './trace.ts';

/**
 * A function that sees each operation of a called graph, and may replace its results.
 * @param inputs the operands of the operation; `outputs` are its results.
 * @returns the variables to use in place of the results.
 */
export type AfterOperation = (
  node: GraphNode,
  inputs: readonly Variable[],
  outputs: readonly Variable[],
) => readonly Variable[];

/**
 * Adds the operations of a graph to the function that is being traced, as if the function called the graph.
 * @param inputs the values of the graph's inputs, by tensor id.
 * @returns the tensors of the graph, by id.
 * @throws InvalidArgumentError for a missing input; the errors of operations whose operands do not fit.
 */
export function callGraph(
  graph: Graph,
  inputs: Readonly<Record<number, Operand>>,
  after: AfterOperation = (_node, _inputs, outputs) => outputs,
): ReadonlyMap<number, Variable> {
  checkObject('graph', graph);
  checkObject('inputs', inputs);
  const trace = traceOf('callGraph', Object.values(inputs));
  const values = new Map<number, Variable>();
  for (const { id, name, dtype } of graph.inputs) {
    const given = inputs[id];
    if (given === undefined)
      throw new InvalidArgumentError('inputs', `lacks tensor ${id}${name ? ` ('${name}')` : ''}`);
    values.set(id, given instanceof Variable ? given : trace.constant(given, dtype));
  }
  for (const node of graph.topology.order) {
    if (node.outputs.length === 0) continue;
    const operands = node.inputs.map(({ id }) => values.get(id) as Variable);
    const dtypes = node.outputs.map(({ dtype }) => dtype);
    const results = after(node, operands, trace.apply(node.kind, operands, node.given, dtypes));
    node.outputs.forEach(({ id }, n) => {
      values.set(id, results[n] as Variable);
    });
  }
  return values;
}
