import type { GraphNode } from './node.ts';

/** Inputs of operations that outputs may overwrite, by the ids of the outputs. */
export type InPlace = ReadonlyMap<number, number>;

/**
 * The tensors that operations may overwrite: an operation that writes in place has its first input, which no
 * other operation reads, in the memory of its output.
 */
export function inPlaceOf(nodes: readonly GraphNode[]): InPlace {
  const reads = new Map<number, number>();
  for (const { id } of nodes.flatMap(node => node.inputs)) reads.set(id, (reads.get(id) ?? 0) + 1);
  return new Map(
    nodes
      .filter(({ operation, inputs }) => operation.inPlace && reads.get(inputs[0].id) === 1)
      .map(({ inputs, outputs }) => [outputs[0].id, inputs[0].id]),
  );
}
