/** A protobuf message under construction: fields as bytes. */
type Bytes = readonly number[];

/** `TensorProto.DataType`. */
const onnxType = { float32: 1, int32: 6, float16: 10 } as const;
export type OnnxType = keyof typeof onnxType;

const INT = 2;

/** An input or output tensor of a model. */
export interface OnnxValue {
  readonly name: string;
  readonly type: OnnxType;
  readonly shape: readonly number[];
}

/** A model of one operator. */
export interface OnnxNode {
  readonly op: string;
  /** Default: ONNX's own. */
  readonly domain?: string;
  readonly opset: number;
  readonly attributes: Readonly<Record<string, number>>;
  /** The inputs in the operator's order; null for those that are omitted. */
  readonly inputs: readonly (OnnxValue | null)[];
  readonly outputs: readonly OnnxValue[];
}

function varint(value: number): Bytes {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}

const number = (field: number, value: number): Bytes => [...varint(8 * field), ...varint(value)];
const message = (field: number, bytes: Bytes): Bytes => [
  ...varint(8 * field + 2),
  ...varint(bytes.length),
  ...bytes,
];
const text = (field: number, value: string): Bytes => message(field, [...new TextEncoder().encode(value)]);

/** A `ValueInfoProto`. */
function valueInfo({ name, type, shape }: OnnxValue): Bytes {
  const dims = shape.flatMap(extent => message(1, number(1, extent)));
  return [...text(1, name), ...message(2, message(1, [...number(1, onnxType[type]), ...message(2, dims)]))];
}

/** An ONNX model of one node, as protobuf. */
export function onnxModel({
  op,
  domain = '',
  opset,
  attributes,
  inputs,
  outputs,
}: OnnxNode): Uint8Array<ArrayBuffer> {
  const node = [
    ...inputs.flatMap(input => text(1, input?.name ?? '')),
    ...outputs.flatMap(({ name }) => text(2, name)),
    ...text(4, op),
    ...Object.entries(attributes).flatMap(([name, value]) =>
      message(5, [...text(1, name), ...number(3, value), ...number(20, INT)]),
    ),
    ...(domain ? text(7, domain) : []),
  ];
  const graph = [
    ...message(1, node),
    ...text(2, 'attention'),
    ...inputs.flatMap(input => (input ? message(11, valueInfo(input)) : [])),
    ...outputs.flatMap(output => message(12, valueInfo(output))),
  ];
  const opsets = [
    ...message(8, [...text(1, ''), ...number(2, opset)]),
    ...(domain ? message(8, [...text(1, domain), ...number(2, 1)]) : []),
  ];
  return Uint8Array.from([...number(1, 10), ...message(7, graph), ...opsets]);
}
