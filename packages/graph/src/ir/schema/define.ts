import type { Operation } from './operation.ts';
import { parsePorts } from './ports.ts';
import type { OperationSchema, ResolvedAttributes } from './schema.ts';

type SchemaKeys = 'kind' | 'inputs' | 'outputs' | 'attributes';

/** The rules of an operation, to which its schema is added. */
export type OperationRules<S extends OperationSchema> = Omit<
  Operation<ResolvedAttributes<S['attributes']>>,
  SchemaKeys
>;

/** A row of the table from its schema and its rules. */
export function defineOperation<S extends OperationSchema>(
  kind: string,
  { inputs, outputs, attributes }: S,
  rules: OperationRules<S>,
): Operation {
  // The check of the schema gives every call attributes of the types that the rules expect.
  const row = rules as unknown as Omit<Operation, SchemaKeys>;
  return { kind, inputs: parsePorts(inputs), outputs: parsePorts(outputs), attributes, ...row };
}

/** Rows of the table, by kind. */
export function defineOperations<T extends Readonly<Record<string, OperationSchema>>>(
  schemas: T,
  rules: { readonly [K in keyof T]: OperationRules<T[K]> },
): readonly Operation[] {
  return Object.keys(schemas).map(kind => defineOperation(kind, schemas[kind], rules[kind]));
}
