import type { GivenAttributes, TensorsOf } from '../ir/schema/schema.ts';
import type { OperationKind, OperationSchemas } from './table.ts';

/**
 * An operation to add. Its kind determines the names and values of its attributes, and the number of its
 * tensors.
 */
export type OperationOptions<K extends OperationKind> = {
  /** The tensors that the operation reads, in the order of its schema. */
  readonly inputs: TensorsOf<OperationSchemas[K]['inputs']>;
  /** The tensors that the operation writes, in the order of its schema. */
  readonly outputs: TensorsOf<OperationSchemas[K]['outputs']>;
  /** Unique among the operations of the graph. Default: one more than the largest so far. */
  readonly id?: number | undefined;
  /** The name in errors and exports. Default: none. */
  readonly name?: string | undefined;
} & AttributesOption<GivenAttributes<OperationSchemas[K]['attributes']>>;

/** `attrs` is optional if no attribute is required. */
type AttributesOption<A> =
  Partial<A> extends A
    ? {
        /** The attributes by name. Default: those of the schema. */
        readonly attrs?: A | undefined;
      }
    : {
        /** The attributes by name. */
        readonly attrs: A;
      };
