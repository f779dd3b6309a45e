import type { Attributes, AttributeType, AttributeValue } from './schema/attribute.ts';
import type { Operation } from './schema/operation.ts';
import type { LogicalTensor } from './tensor/logical-tensor.ts';

/** A remark about an operation in a oneDNN graph dump, such as its partition. Stored, but not interpreted. */
export interface Annotation {
  /** The type of the value, by oneDNN's name. */
  readonly type: AttributeType;
  /** The value, as the dump has it. */
  readonly value: AttributeValue;
}

/** An operation in a graph. */
export interface GraphNode {
  /** Unique within the graph. */
  readonly id: number;
  /** The name in errors and exports. */
  readonly name: string;
  /** The kind, such as `MatMul`. */
  readonly kind: string;
  /** The row of the operation table. */
  readonly operation: Operation;
  /** The attributes as given. */
  readonly given: Attributes;
  /** The attributes with defaults filled in. */
  readonly attributes: Attributes;
  /** The tensors that the operation reads, in the order of its schema. */
  readonly inputs: readonly LogicalTensor[];
  /** The tensors that the operation writes, in the order of its schema. */
  readonly outputs: readonly LogicalTensor[];
  /** Remarks of a graph dump, by name. */
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

/** A node as error messages show it: kind, id and name. */
export function describeNode({ kind, id, name }: Pick<GraphNode, 'kind' | 'id' | 'name'>): string {
  return `${kind} ${id}${name ? ` '${name}'` : ''}`;
}
