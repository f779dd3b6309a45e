import { InvalidGraphError, InvalidOperationError } from '../../errors.ts';
import type { NodeDescription } from '../../ir/graph-builder.ts';
import { type Annotation, describeNode } from '../../ir/node.ts';
import type { AttributeType, AttributeValue } from '../../ir/schema/attribute.ts';
import { hasType as attributeTypes } from '../../ir/schema/check.ts';
import { dtypeOfOneDnn } from '../../ir/tensor/dtype.ts';
import {
  type LayoutType,
  type LogicalTensor,
  type TensorProperty,
  UNKNOWN,
} from '../../ir/tensor/logical-tensor.ts';
import { operationOf } from '../../ops/table.ts';
import {
  type GraphHeader,
  namedFloats,
  type OneDnnAttribute,
  type OneDnnGraph,
  type OneDnnOp,
  type OneDnnTensor,
  UNKNOWN_DIMENSION,
} from './format.ts';

/** The contents of a graph in JSON. */
export interface ParsedGraph {
  readonly header: Partial<GraphHeader>;
  /** Functions that each read one operation. */
  readonly operations: readonly (() => NodeDescription)[];
}

/**
 * Reads oneDNN's JSON, as text or parsed.
 * @throws InvalidGraphError if the JSON is not a oneDNN graph. The functions in `operations` throw
 * InvalidOperationError for an operation that breaks its schema.
 */
export function readJson(json: OneDnnGraph | string): ParsedGraph {
  const file = asGraph(typeof json === 'string' ? parse(json) : json);
  return {
    header: {
      version: file.version,
      engineKind: file.engine_kind,
      fpmathMode: file.fpmath_mode,
      ...(file.fpmath_mode_apply_to_int !== undefined && {
        fpmathModeApplyToInt: file.fpmath_mode_apply_to_int === 'true',
      }),
      ports: file.input_ports ? { inputs: file.input_ports, outputs: file.output_ports ?? [] } : 'none',
    },
    operations: file.graph.map(op => () => readOperation(op)),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidGraphError(`the text is not JSON: ${error instanceof Error ? error.message : error}`);
  }
}

function asGraph(json: unknown): OneDnnGraph {
  if (!isRecord(json) || !Array.isArray(json.graph)) {
    throw new InvalidGraphError("the JSON must have a list 'graph' of operations");
  }
  for (const key of ['version', 'engine_kind', 'fpmath_mode']) {
    if (typeof json[key] !== 'string') throw new InvalidGraphError(`the JSON has no '${key}'`);
  }
  for (const key of ['input_ports', 'output_ports']) {
    if (json[key] !== undefined && !isNumbers(json[key]))
      throw new InvalidGraphError(`'${key}' of the JSON must be a list of ids`);
  }
  for (const [n, op] of json.graph.entries()) {
    const isOperation =
      isRecord(op) &&
      typeof op.kind === 'string' &&
      typeof op.id === 'number' &&
      (op.name === undefined || typeof op.name === 'string') &&
      isTensorList(op.inputs) &&
      isTensorList(op.outputs) &&
      (op.attrs === undefined || isRecord(op.attrs));
    if (!isOperation) throw new InvalidGraphError(`graph[${n}] of the JSON is not an operation`);
  }
  return json as unknown as OneDnnGraph;
}

function isRecord(x: unknown): x is Record<string, unknown> {
  return typeof x === 'object' && x !== null && !Array.isArray(x);
}

function isTensorList(x: unknown): boolean {
  return (
    Array.isArray(x) &&
    x.every(t => isRecord(t) && typeof t.id === 'number' && isNumbers(t.shape) && isNumbers(t.stride))
  );
}

function isNumbers(x: unknown): x is readonly number[] {
  return Array.isArray(x) && x.every(n => typeof n === 'number');
}

function readOperation(op: OneDnnOp): NodeDescription {
  const name = op.name ?? '';
  const label = describeNode({ ...op, name });
  const schema = operationOf(op.kind)?.attributes ?? {};
  // Without a prototype, an attribute named `__proto__` is an attribute like others, which the check refuses.
  const given: Record<string, AttributeValue> = Object.create(null);
  const annotations: Record<string, Annotation> = {};
  for (const [key, attribute] of Object.entries<unknown>(op.attrs ?? {})) {
    const { type, value } = asAttribute(label, key, attribute);
    const own = readValue(type, value);
    // Annotations of a graph dump are stored separately from the attributes; the schema check refuses other
    // unknown names.
    if (!Object.hasOwn(schema, key) && dumpAnnotations.includes(key)) annotations[key] = { type, value: own };
    else if (Object.hasOwn(schema, key) && schema[key].type !== type) {
      throw new InvalidOperationError(
        label,
        `attribute '${key}' must be ${schema[key].type}, got ${String(type)}`,
      );
    } else given[key] = own;
  }
  return {
    id: op.id,
    name,
    kind: op.kind,
    attrs: given,
    annotations,
    inputs: op.inputs.map(t => readTensor(label, t)),
    outputs: op.outputs.map(t => readTensor(label, t)),
  };
}

function asAttribute(label: string, key: string, attribute: unknown): OneDnnAttribute {
  if (!isRecord(attribute) || !('value' in attribute))
    throw new InvalidGraphError(`attribute '${key}' of ${label} must be { type, value }`);
  const { type } = attribute;
  if (typeof type !== 'string' || !Object.hasOwn(attributeTypes, type)) {
    const known = Object.keys(attributeTypes).join(', ');
    throw new InvalidGraphError(
      `attribute '${key}' of ${label} must have one of the types ${known}, got ${type}`,
    );
  }
  return attribute as unknown as OneDnnAttribute;
}

function readValue(type: AttributeType, value: OneDnnAttribute['value']): AttributeValue {
  // The schema check refuses values of other types.
  if (type === 'bool') return value === 0 || value === 1 ? value === 1 : (value as AttributeValue);
  const number = (x: number | string): number =>
    typeof x === 'string' && Object.hasOwn(namedFloats, x) ? namedFloats[x] : (x as number);
  if (type === 'f32' && !Array.isArray(value)) return number(value as number | string);
  return type === 'f32[]' && Array.isArray(value) ? value.map(number) : (value as AttributeValue);
}

const dumpAnnotations: readonly string[] = ['partition_id', 'backend'];

function readTensor(label: string, t: OneDnnTensor): LogicalTensor {
  const dtype = dtypeOfOneDnn(t.dtype);
  if (dtype === undefined)
    throw new InvalidOperationError(label, `tensor ${t.id} has no known dtype: '${t.dtype}'`);
  return {
    id: t.id,
    dtype,
    shape: readExtents(t.shape),
    strides: readExtents(t.stride),
    layout: t.layout_type as LayoutType,
    property: t.property_type as TensorProperty,
  };
}

function readExtents(list: readonly number[]): readonly number[] | null {
  if (list.length === 1 && list[0] === UNKNOWN_DIMENSION) return null;
  return list.map(n => (n === UNKNOWN_DIMENSION ? UNKNOWN : n));
}
