import { describeValue, InvalidArgumentError } from '@tilewise/core';
import { Graph } from './graph.ts';

/** @throws InvalidArgumentError for what is no graph. */
export function checkGraph(argument: string, graph: unknown): asserts graph is Graph {
  if (!(graph instanceof Graph))
    throw new InvalidArgumentError(argument, `must be a Graph, got ${describeValue(graph)}`);
}
