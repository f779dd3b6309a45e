import { describeValue, InvalidArgumentError } from '@tilewise/core';
import type { Graph } from './graph.ts';

/** @throws InvalidArgumentError for what is no graph. By a member, so that whoever is given a graph needs none of its code. */
export function checkGraph(argument: string, graph: unknown): asserts graph is Graph {
  if (typeof graph === 'object' && graph !== null && 'topology' in graph) return;
  throw new InvalidArgumentError(argument, `must be a Graph, got ${describeValue(graph)}`);
}
