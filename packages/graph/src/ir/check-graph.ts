import { describeValue, InvalidArgumentError } from '@tilewise/core';

/**
 * @throws InvalidArgumentError for a value that is not a graph. This tests a member instead of the class, so
 * that a module that takes graphs need not import the class.
 */
export function checkGraph(argument: string, graph: unknown): void {
  if (typeof graph === 'object' && graph !== null && 'topology' in graph) return;
  throw new InvalidArgumentError(argument, `must be a Graph, got ${describeValue(graph)}`);
}
