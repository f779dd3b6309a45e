/** A protobuf message under construction: fields as bytes. */
type Bytes = readonly number[];

const FLOAT32 = 1;
const INT = 2;

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

/** A `ValueInfoProto` of f32. */
function value(name: string, shape: readonly number[]): Bytes {
  const dims = shape.flatMap(extent => message(1, number(1, extent)));
  return [...text(1, name), ...message(2, message(1, [...number(1, FLOAT32), ...message(2, dims)]))];
}

/** An ONNX model of one `Attention` node (opset 23) on f32 tensors Q, K, V and Y of a shape (B, H, S, D), as protobuf. */
export function attentionModel(shape: readonly number[], causal: boolean): Uint8Array {
  const isCausal = [...text(1, 'is_causal'), ...number(3, causal ? 1 : 0), ...number(20, INT)];
  const inputs = ['Q', 'K', 'V'];
  const node = [...inputs.flatMap(name => text(1, name)), ...text(2, 'Y'), ...text(4, 'Attention')];
  const graph = [
    ...message(1, [...node, ...message(5, isCausal)]),
    ...text(2, 'attention'),
    ...inputs.flatMap(name => message(11, value(name, shape))),
    ...message(12, value('Y', shape)),
  ];
  const opset = [...text(1, ''), ...number(2, 23)];
  return Uint8Array.from([...number(1, 10), ...message(7, graph), ...message(8, opset)]);
}
