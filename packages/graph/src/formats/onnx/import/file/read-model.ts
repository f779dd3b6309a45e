import { readTensor, type TensorRecord } from './tensor-record.ts';
import { Message } from './wire.ts';

/**
 * The values of a node's attributes by kind. For lists of graphs and sparse tensors, the value is their
 * description, so that errors can name them.
 */
export interface AttributeValues {
  readonly float: number;
  readonly int: number;
  readonly string: string;
  readonly floats: readonly number[];
  readonly ints: readonly number[];
  readonly strings: readonly string[];
  readonly tensor: TensorRecord;
  readonly graph: GraphRecord;
  /** The name of the attribute of the function whose value this attribute of a node of the function takes. */
  readonly reference: string;
  readonly other: string;
}

/** An attribute of a node. */
export type AttributeRecord = {
  [K in keyof AttributeValues]: { readonly kind: K; readonly value: AttributeValues[K] };
}[keyof AttributeValues];

/** A node of the file: an operator on values, which are given by name; '' for an omitted optional value. */
export interface NodeRecord {
  readonly op: string;
  /** The domain of the operator's operator set: '' for ONNX's own. */
  readonly domain: string;
  readonly name: string;
  /**
   * The PyTorch module that the node comes from, such as `model.layers.0.mlp`, if the exporter recorded it;
   * else ''.
   */
  readonly scope: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, AttributeRecord>;
}

/** An input or output of the graph. */
export interface ValueRecord {
  /** The name in the file. */
  readonly name: string;
  /** The number of the element type; null if the value is not a tensor. */
  readonly type: number | null;
  /**
   * The extents: numbers, names that stand for numbers, or null where nothing is declared; null if the rank
   * is not declared either.
   */
  readonly shape: readonly (number | string | null)[] | null;
}

/** A graph: the main graph of a file, or a branch of a node. */
export interface GraphRecord {
  readonly nodes: readonly NodeRecord[];
  readonly initializers: readonly TensorRecord[];
  readonly inputs: readonly ValueRecord[];
  readonly outputs: readonly ValueRecord[];
}

/** A function of the file: an operator that is composed of others. */
export interface FunctionRecord {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly nodes: readonly NodeRecord[];
  /** The values of attributes that a call does not give. */
  readonly defaults: ReadonlyMap<string, AttributeRecord>;
}

/** The name of a function in a file. */
export const functionName = ({ domain, op }: Pick<NodeRecord, 'domain' | 'op'>): string => `${domain}:${op}`;

/** The supported contents of an ONNX file. */
export interface ModelRecord extends GraphRecord {
  /** The version of each operator set that the nodes use, by domain. */
  readonly opsets: ReadonlyMap<string, number>;
  /** The functions of the file, by their names as `functionName` gives them. */
  readonly functions: ReadonlyMap<string, FunctionRecord>;
}

/**
 * Parses an ONNX file (onnx.proto 3). Nothing is computed, and tensors share the memory of the file.
 * @throws InvalidGraphError if the bytes are not a valid ONNX file, naming the node or tensor.
 */
export function readModel(bytes: Uint8Array): ModelRecord {
  const model = new Message(bytes, `${described(bytes)} is not a complete ONNX model: it`);
  const graph = new Message(model.bytes(7, 'graph') ?? model.fail('has no graph'), 'the graph');
  const functions = model.messages(25, 'functions', n => `function ${n}`);
  return {
    // A function may use operator sets that the main graph does not use.
    opsets: new Map([...functions.flatMap(message => readOpsets(message, 9)), ...readOpsets(model, 8)]),
    ...readGraph(graph, 0),
    functions: new Map(functions.map(readFunction)),
  };
}

/**
 * Describes a file by its start, which often shows the format: HTML, JSON, an archive, or a Git LFS pointer.
 */
function described(bytes: Uint8Array): string {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 16));
  return start ? `the file, which starts with ${JSON.stringify(start)},` : 'the empty file';
}

const readOpsets = (message: Message, field: number): (readonly [domain: string, version: number])[] =>
  message
    .messages(field, 'opset_import', n => `operator set ${n}`)
    .map(set => [normalDomain(set.text(1, 'domain')), set.integer(2, 'version')]);

function readFunction(message: Message): readonly [name: string, record: FunctionRecord] {
  const domain = normalDomain(message.text(10, 'domain'));
  const op = message.text(1, 'name');
  const record = {
    inputs: message.texts(4, 'input'),
    outputs: message.texts(5, 'output'),
    nodes: message.messages(7, 'node', n => `node ${n} of function '${op}'`).map(node => readNode(node, 0)),
    defaults: readAttributes(
      message.messages(11, 'attribute_proto', n => `attribute ${n} of '${op}'`),
      0,
    ),
  };
  return [functionName({ domain, op }), record];
}

const readAttributes = (messages: readonly Message[], depth: number): NodeRecord['attributes'] =>
  new Map(messages.map(message => [message.text(1, 'name'), readAttribute(message, depth)]));

/** The maximum nesting depth of branches. */
const deepest = 16;

function readGraph(graph: Message, depth: number): GraphRecord {
  if (depth > deepest) graph.fail(`is nested in more than ${deepest} other graphs`);
  if (graph.has(15))
    graph.fail('has sparse initializers, which are not supported: store them as dense tensors');
  return {
    nodes: graph.messages(1, 'node', n => `node ${n}`).map(node => readNode(node, depth)),
    initializers: graph.messages(5, 'initializer', n => `initializer ${n}`).map(readTensor),
    inputs: graph.messages(11, 'input', n => `input ${n}`).map(readValue),
    outputs: graph.messages(12, 'output', n => `output ${n}`).map(readValue),
  };
}

/** 'ai.onnx' is another name of ONNX's own operator set. */
const normalDomain = (domain: string): string => (domain === 'ai.onnx' ? '' : domain);

function readNode(node: Message, depth: number): NodeRecord {
  const attributes = node.messages(5, 'attribute', n => `attribute ${n} of node '${node.text(3, 'name')}'`);
  return {
    op: node.text(4, 'op_type'),
    domain: normalDomain(node.text(7, 'domain')),
    name: node.text(3, 'name'),
    scope: scopeOf(node),
    inputs: node.texts(1, 'input'),
    outputs: node.texts(2, 'output'),
    attributes: readAttributes(attributes, depth),
  };
}

/** The last module in PyTorch's list of name scopes, whose last entry is the operation. */
function scopeOf(node: Message): string {
  const properties = node.messages(9, 'metadata', n => `entry ${n} of the metadata of a node`);
  const scopes = properties.find(entry => entry.text(1, 'key') === 'pkg.torch.onnx.name_scopes');
  const names = scopes?.text(2, 'value').match(/[^'", [\]]+/g) ?? [];
  return names.at(-2) ?? '';
}

/**
 * Reads an attribute of a type that tensor operators use (AttributeProto.AttributeType). Files of early
 * versions omit the type.
 */
function readAttribute(message: Message, depth: number): AttributeRecord {
  if (message.has(21)) return { kind: 'reference', value: message.text(21, 'ref_attr_name') };
  const type = message.integer(20, 'type') || guessedType(message);
  switch (type) {
    case 1:
      return { kind: 'float', value: message.floats(2, 'f', 4).at(-1) ?? 0 };
    case 2:
      // Integers beyond ±2^53 only mean "to the end", and so does the nearest number.
      return { kind: 'int', value: Number(message.integers(3, 'i').at(-1) ?? 0n) };
    case 3:
      return { kind: 'string', value: message.text(4, 's') };
    case 4: {
      const tensor = message.message(5, 't');
      return tensor ? { kind: 'tensor', value: readTensor(tensor) } : message.fail('has no tensor');
    }
    case 5: {
      const graph = message.message(6, 'g');
      return graph ? { kind: 'graph', value: readGraph(graph, depth + 1) } : message.fail('has no graph');
    }
    case 6:
      return { kind: 'floats', value: message.floats(7, 'floats', 4) };
    case 7:
      return { kind: 'ints', value: message.integers(8, 'ints').map(Number) };
    case 8:
      return { kind: 'strings', value: message.texts(9, 'strings') };
    default:
      return { kind: 'other', value: type === 10 ? 'a list of graphs' : `of type ${type}` };
  }
}

/** Infers an attribute's type from the field that is present: a value of type n is in field n + 1. */
function guessedType(message: Message): number {
  const type = [1, 2, 3, 4, 5, 6, 7, 8].find(n => message.has(n + 1));
  return type ?? 7;
}

function readValue(message: Message): ValueRecord {
  const name = message.text(1, 'name');
  const tensor = message.message(2, 'type')?.message(1, 'tensor_type');
  if (!tensor) return { name, type: null, shape: null };
  const shape = tensor.message(2, 'shape');
  return {
    name,
    type: tensor.integer(1, 'elem_type'),
    shape: shape ? shape.messages(1, 'dim', n => `dimension ${n} of '${name}'`).map(readDimension) : null,
  };
}

function readDimension(dimension: Message): number | string | null {
  if (dimension.has(2)) return dimension.text(2, 'dim_param') || null;
  if (!dimension.has(1)) return null;
  const extent = dimension.integer(1, 'dim_value');
  if (extent < 0) dimension.fail(`is ${extent}: an extent must be at least 0`);
  return extent;
}
