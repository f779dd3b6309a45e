import type { Attributes, AttributeType, AttributeValue } from './schema/attribute.ts';
import type { Operation } from './schema/operation.ts';
import type { LogicalTensor } from './tensor/logical-tensor.ts';

/** A remark of a graph dump about an operation, such as its partition. It is kept and not interpreted. */
export interface Annotation {
  readonly type: AttributeType;
  readonly value: AttributeValue;
}

/** An operation in a graph. */
export interface GraphNode {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly operation: Operation;
  /** The attributes as they were given. */
  readonly given: Attributes;
  /** With defaults filled in. */
  readonly attributes: Attributes;
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
  readonly annotations: Readonly<Record<string, Annotation>>;
}

/** The operations that results need, in order. */
export function neededNodes<N extends Pick<GraphNode, 'inputs' | 'outputs'>>(
  nodes: readonly N[],
  results: Iterable<number>,
): N[] {
  const needed = new Set(results);
  const found = [...nodes].reverse().filter(({ inputs, outputs }) => {
    const isNeeded = outputs.some(({ id }) => needed.has(id));
    if (isNeeded) for (const { id } of inputs) needed.add(id);
    return isNeeded;
  });
  return found.reverse();
}

/** A node in an error: kind, id and name. */
export function describeNode({ kind, id, name }: Pick<GraphNode, 'kind' | 'id' | 'name'>): string {
  return `${kind} ${id}${name ? ` '${name}'` : ''}`;
}
