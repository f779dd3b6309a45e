import { namingOperation } from '../tensor/shape.ts';
import type { Operation } from './operation.ts';
import { parsePorts } from './ports.ts';
import type { OperationSchema, ResolvedAttributes } from './schema.ts';

type SchemaKeys = 'kind' | 'inputs' | 'outputs' | 'attributes';

/** The rules of an operation: everything except its schema. */
export type OperationRules<S extends OperationSchema> = Omit<
  Operation<ResolvedAttributes<S['attributes']>>,
  SchemaKeys
>;

/** Combines the schema and the rules of an operation to a row of the table. */
export function defineOperation<S extends OperationSchema>(
  kind: string,
  { inputs, outputs, attributes }: S,
  rules: OperationRules<S>,
): Operation {
  // The schema check guarantees that every call's attributes have the types that the rules expect.
  const row = rules as unknown as Omit<Operation, SchemaKeys>;
  const infer: Operation['infer'] = call => namingOperation(kind, () => row.infer(call));
  return { ...row, kind, inputs: parsePorts(inputs), outputs: parsePorts(outputs), attributes, infer };
}

/** Rows of the table, by kind. */
export function defineOperations<T extends Readonly<Record<string, OperationSchema>>>(
  schemas: T,
  rules: { readonly [K in keyof T]: OperationRules<T[K]> },
): readonly Operation[] {
  return Object.keys(schemas).map(kind => defineOperation(kind, schemas[kind], rules[kind]));
}
