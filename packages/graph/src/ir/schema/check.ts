import { InvalidOperationError } from '../../errors.ts';
import { didYouMean } from '../check-names.ts';
import type { GraphDType } from '../tensor/dtype.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import type { AttributeSchema, Attributes, AttributeType, AttributeValue } from './attribute.ts';
import { valueText } from './exact-json.ts';
import type { Operation } from './operation.ts';
import type { PortSchema } from './ports.ts';

/**
 * Checks an operation against its schema, in oneDNN's order: number of inputs, their dtypes, number of
 * outputs, their dtypes, attributes, and the other rules of its definition.
 * @param label the name of the operation in errors.
 * @param nameOf the name of an attribute in errors, from that of the schema.
 * @returns the attributes with their defaults.
 * @throws InvalidOperationError naming the operation, and the tensor or attribute.
 */
export function checkOperation(
  label: string,
  operation: Operation,
  given: Attributes,
  inputs: readonly LogicalTensor[],
  outputs: readonly LogicalTensor[],
  nameOf: (attribute: string) => string = name => name,
): Attributes {
  const bound = new Map<string, GraphDType>();
  checkCount(label, 'input', operation.inputs, inputs.length, operation.attributes);
  checkDTypes(label, 'input', operation.inputs, inputs, bound);
  checkCount(label, 'output', operation.outputs, outputs.length);
  checkDTypes(label, 'output', operation.outputs, outputs, bound);
  const attributes = checkAttributes(label, operation.attributes, given, nameOf);
  const wrong = operation.constraint?.({ attributes, inputs, outputs }) ?? null;
  if (wrong !== null) throw new InvalidOperationError(label, wrong);
  return attributes;
}

function checkCount(
  label: string,
  what: string,
  ports: readonly PortSchema[],
  count: number,
  attributes: object = {},
): void {
  const least = ports.filter(port => !port.optional && !port.variadic).length;
  const most = ports.some(port => port.variadic) ? Infinity : ports.length;
  if (count >= least && count <= most) return;
  const range = most > least ? `${least} to ` : '';
  const [attribute] = Object.keys(attributes);
  const hint = attribute && count > most ? `; give attributes as { ${attribute}: … }` : '';
  throw new InvalidOperationError(
    label,
    `takes ${range}${most} ${what}${most === 1 ? '' : 's'} (${ports.map(port => port.name).join(', ')}), got ${count}${hint}`,
  );
}

function checkDTypes(
  label: string,
  what: string,
  ports: readonly PortSchema[],
  tensors: readonly LogicalTensor[],
  bound: Map<string, GraphDType>,
): void {
  tensors.forEach(({ id, dtype }, n) => {
    const port = ports[Math.min(n, ports.length - 1)];
    const place = `${what} '${port.name}' (tensor ${id})`;
    if (!port.among.includes(dtype)) {
      throw new InvalidOperationError(label, `${place} must be ${port.among.join(', ')}, got ${dtype}`);
    }
    const first = bound.get(port.type) ?? dtype;
    if (port.type && dtype !== first) {
      throw new InvalidOperationError(
        label,
        `${place} must be ${first}, the dtype of an earlier tensor, got ${dtype}`,
      );
    }
    bound.set(port.type, first);
  });
}

function checkAttributes(
  label: string,
  schema: Readonly<Record<string, AttributeSchema>>,
  given: Attributes,
  nameOf: (attribute: string) => string,
): Attributes {
  const attributes: Record<string, AttributeValue> = {};
  for (const [name, { type, required, among, default: standard }] of Object.entries(schema)) {
    const value = given[name] === undefined ? standard : given[name];
    if (value === undefined) {
      if (required) throw new InvalidOperationError(label, `needs the attribute '${nameOf(name)}'`);
      continue;
    }
    if (!hasType[type](value)) {
      throw new InvalidOperationError(
        label,
        `attribute '${nameOf(name)}' must be ${type.replace('s64', 'integer').replace('f32', 'number')}, got ${valueText(value)}`,
      );
    }
    if (among && !among.includes(value)) {
      throw new InvalidOperationError(
        label,
        `attribute '${nameOf(name)}' must be one of ${among.join(', ')}, got ${valueText(value)}`,
      );
    }
    attributes[name] = value;
  }
  const unknown = Object.keys(given).find(name => !Object.hasOwn(schema, name));
  if (unknown !== undefined) {
    const hint = didYouMean(nameOf(unknown), Object.keys(schema).map(nameOf));
    throw new InvalidOperationError(label, `has no attribute '${nameOf(unknown)}'${hint}`);
  }
  return attributes;
}

const isInteger = (x: unknown): boolean => typeof x === 'number' && Number.isInteger(x);
const isNumber = (x: unknown): boolean => typeof x === 'number' && !Number.isNaN(x);

/** For each attribute type, whether a value has that type. */
export const hasType: Readonly<Record<AttributeType, (value: unknown) => boolean>> = {
  bool: value => typeof value === 'boolean',
  s64: isInteger,
  's64[]': value => Array.isArray(value) && value.every(isInteger),
  f32: isNumber,
  'f32[]': value => Array.isArray(value) && value.every(isNumber),
  string: value => typeof value === 'string' && value !== '',
};
