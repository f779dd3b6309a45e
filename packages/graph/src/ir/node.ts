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

/** A node in an error: kind, id and name. */
export function describeNode({ kind, id, name }: Pick<GraphNode, 'kind' | 'id' | 'name'>): string {
  return `${kind} ${id}${name ? ` '${name}'` : ''}`;
}
