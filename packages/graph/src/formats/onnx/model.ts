import {
  bytesField,
  type Fields,
  floatField,
  integerField,
  joined,
  messageField,
  stringField,
} from './protobuf.ts';

/** An attribute of a node. */
export type OnnxAttribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly string: string }
  | { readonly ints: readonly number[] };

/** A node: an ONNX operator on tensors, which are given by name; '' for an omitted optional tensor. */
export interface OnnxNode {
  readonly op: string;
  /** The domain of the operator set. Default: ONNX's own. */
  readonly domain?: string | undefined;
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, OnnxAttribute>>;
}

/** A tensor in the model, with its data in little-endian, row-major order. */
export interface OnnxInitializer {
  readonly name: string;
  readonly type: number;
  readonly shape: readonly number[];
  readonly data: Uint8Array;
}

/** An input or output. Unknown extents are −1, and a shape of unknown rank is null. */
export interface OnnxValue {
  readonly name: string;
  readonly type: number;
  readonly shape: readonly number[] | null;
}

/** The contents of a model with one graph. */
export interface ModelContents {
  readonly name: string;
  /** The version of ONNX's operator set. Default: `exportedOpset`. */
  readonly opset?: number;
  readonly nodes: readonly OnnxNode[];
  readonly initializers: readonly OnnxInitializer[];
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
}

/**
 * The version of ONNX's operator set whose `Attention` has windows, and the version of the file format that
 * came with it.
 */
const exportedOpset = 25;
const irVersion = 13;

/** Encodes a model as an ONNX file. Field numbers are those of onnx.proto. */
export function encodeModel(model: ModelContents): Uint8Array<ArrayBuffer> {
  const { name, opset = exportedOpset, nodes, initializers, inputs, outputs } = model;
  const others = new Set(nodes.flatMap(({ domain }) => domain ?? []));
  const graph = [
    ...nodes.map(node => messageField(1, encodeNode(node))),
    stringField(2, name),
    ...initializers.map(tensor => messageField(5, encodeTensor(tensor))),
    ...inputs.map(value => messageField(11, encodeValue(value))),
    ...outputs.map(value => messageField(12, encodeValue(value))),
  ];
  return joined([
    integerField(1, irVersion),
    stringField(2, 'tilewise'),
    messageField(7, graph),
    messageField(8, [stringField(1, ''), integerField(2, opset)]),
    ...[...others].map(domain => messageField(8, [stringField(1, domain), integerField(2, 1)])),
  ]);
}

function encodeNode({ op, domain, name, inputs, outputs, attributes }: OnnxNode): Fields {
  return [
    ...inputs.map(input => stringField(1, input)),
    ...outputs.map(output => stringField(2, output)),
    stringField(3, name),
    stringField(4, op),
    ...(domain === undefined ? [] : [stringField(7, domain)]),
    ...Object.entries(attributes).map(([key, value]) =>
      messageField(5, [stringField(1, key), ...encodeAttribute(value)]),
    ),
  ];
}

function encodeAttribute(value: OnnxAttribute): Fields {
  if ('float' in value) return [floatField(2, value.float), integerField(20, 1)];
  if ('int' in value) return [integerField(3, value.int), integerField(20, 2)];
  if ('string' in value) return [stringField(4, value.string), integerField(20, 3)];
  return [...value.ints.map(n => integerField(8, n)), integerField(20, 7)];
}

function encodeTensor({ name, type, shape, data }: OnnxInitializer): Fields {
  return [
    ...shape.map(n => integerField(1, n)),
    integerField(2, type),
    stringField(8, name),
    bytesField(9, data),
  ];
}

function encodeValue({ name, type, shape }: OnnxValue): Fields {
  const dimensions = shape?.map((n, d) =>
    messageField(1, [n < 0 ? stringField(2, `${name}_${d}`) : integerField(1, n)]),
  );
  const tensor = [integerField(1, type), ...(dimensions ? [messageField(2, dimensions)] : [])];
  return [stringField(1, name), messageField(2, [messageField(1, tensor)])];
}
