import { describeValue, InvalidArgumentError } from '@tilewise/core';

/**
 * @throws InvalidArgumentError for what is no graph. By a member, so that whoever is given a graph needs none
 * of its code.
 */
export function checkGraph(argument: string, graph: unknown): void {
  if (typeof graph === 'object' && graph !== null && 'topology' in graph) return;
  throw new InvalidArgumentError(argument, `must be a Graph, got ${describeValue(graph)}`);
}
