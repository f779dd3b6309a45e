import { elementCount, type Shape } from '@tilewise/core';
import { type Graph, type GraphNode, inferShapes, type LogicalShape } from '@tilewise/graph';

/** The floating-point operations of an operation other than a product, per element of its largest tensor. */
const PER_ELEMENT = 10;

/**
 * The GFLOP of a finalized graph, summed over its operations: two for each term of a product, and ten for
 * each element of other operations.
 */
export function graphGflop({ topology }: Graph): number {
  const shapes = inferShapes(topology.order, new Map());
  return topology.order.reduce((sum, node) => sum + operationsOf(node, shapes), 0) / 1e9;
}

function operationsOf(
  { kind, attributes, inputs, outputs }: GraphNode,
  shapes: ReadonlyMap<number, LogicalShape>,
): number {
  const shapeOf = ({ id }: { readonly id: number }): Shape => shapes.get(id) ?? [];
  if (kind === 'MatMul') {
    const terms = shapeOf(inputs[0]).at(attributes.transpose_a ? -2 : -1) ?? 1;
    return 2 * terms * elementCount(shapeOf(outputs[0]));
  }
  return PER_ELEMENT * Math.max(...[...inputs, ...outputs].map(t => elementCount(shapeOf(t))));
}
