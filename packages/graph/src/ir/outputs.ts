import { InvalidGraphError } from '../errors.ts';
import { describeNode } from './node.ts';
import type { LogicalTensor } from './tensor/logical-tensor.ts';
import type { Topology } from './topology.ts';

/**
 * Checks that the outputs of a graph are the expected ones.
 * @throws InvalidGraphError naming the tensor, and the operation that it comes from or that reads it.
 */
export function checkOutputs({ producers, uses, outputs }: Topology, wanted: readonly LogicalTensor[]): void {
  const given = new Set(outputs.map(t => t.id));
  for (const { id } of wanted) {
    const producer = producers.get(id);
    if (!producer) {
      throw new InvalidGraphError(
        `tensor ${id} is to be an output, but no operation produces it`,
        `tensor ${id}`,
      );
    }
    if (!given.has(id)) {
      const [reader] = uses(id);
      const by = reader ? describeNode(reader.node) : 'something';
      throw new InvalidGraphError(
        `tensor ${id} of ${describeNode(producer)} is to be an output, but ${by} reads it: mark it with an End`,
        `tensor ${id}`,
      );
    }
  }
  const names = new Set(wanted.map(t => t.id));
  const dangling = outputs.find(t => !names.has(t.id));
  const producer = dangling && producers.get(dangling.id);
  if (producer) {
    throw new InvalidGraphError(
      `tensor ${dangling.id} of ${describeNode(producer)} dangles: no operation reads it, and it is not among the outputs`,
      `tensor ${dangling.id}`,
    );
  }
}
